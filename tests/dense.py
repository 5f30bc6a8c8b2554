"""The rules of picking on a list, over all candidates at every pick, from scratch.

Nothing here is shared with the package but kernels, formulas of widths and the dictionary's ids:
the posterior is computed from repeated rows, and every bound of every candidate is kept densely.
"""

import numpy as np
from scipy.linalg import solve_triangular

import noregret as nr
from noregret.widths import proved

#: bounds closer than this are ties that round-off decides
TIE = 1e-5
#: candidates that are always brought up to date: those with the largest bounds
TOP = 64
KERNEL, ROOT = nr.Matern(0.3, nu=2.5), 2**0.5


class DensePosterior:
    """Mean and leverage of all candidates for every λ, on the span of a dictionary.

    ``dictionary``, ``ids`` are row numbers of X; ``y`` the rewards of ``ids``.
    """

    def __init__(self, kernel, X, lams, dictionary, ids, y):
        self.lam, self._kernel, self._X = lams[0], kernel, X
        lower = np.linalg.cholesky(kernel(X[dictionary], X[dictionary]))
        self._Z = Z = solve_triangular(lower, kernel(X[dictionary], X), lower=True).T
        self.prior = kernel.diag(X)
        self.counts = np.bincount(ids, minlength=len(X))
        self.residual = np.maximum(self.prior - (Z**2).sum(axis=1), 0.0)
        told, gram = Z[ids], Z[ids].T @ Z[ids]
        self.means, self.leverages, self.log_dets, self.ridges = [], [], [], []
        for lam in lams:
            V = gram + lam * np.eye(Z.shape[1])
            solved = np.linalg.solve(V, Z.T)
            mean = solved.T @ (told.T @ y)
            self.means.append(mean)
            self.leverages.append(self.residual / lam + (Z.T * solved).sum(axis=0))
            self.log_dets.append(self._log_det(V, lam))
            self.ridges.append(float(y @ (y - mean[ids])))
            if lam == self.lam:
                self._solved = solved

    def _log_det(self, V, lam):
        on_span = np.linalg.slogdet(V / lam)[1]
        arms = self.counts, self.prior, self.residual
        return float(proved.log_det_bounds(np.array([on_span]), *arms, np.array([lam]))[0])

    def theory(self, noise, norm, delta, lams):
        """The proved factors of √leverage, one a λ."""
        trace = float(self.counts @ self.residual)
        arrays = np.array(lams), np.array(self.log_dets), np.array(self.ridges)
        return proved.for_each_lambda(noise, norm, delta, *arrays, trace)[0]

    def shrunk(self, pending, picks, *, frozen):
        """Leverages once ``pending`` and ``picks`` are evaluated too (row numbers, repeated).

        Frozen: picks count only inside the span of the dictionary and of what is pending.
        """
        both = np.concatenate([pending, picks]).astype(int)
        columns = self._Z @ self._solved[:, both]
        outside = self._outside(both)
        if frozen:
            where = np.unique(pending)
            rows = self._outside(where)
            small = np.linalg.pinv(rows[where], rcond=1e-10, hermitian=True)
            outside = rows @ small @ rows[both].T
        columns = columns + outside / self.lam
        inner = np.eye(len(both)) + columns[both]
        falls = np.einsum("ij,ji->i", columns, np.linalg.solve(inner, columns.T))
        return np.maximum(self.leverages[0] - falls, 0.0)

    def _outside(self, ids):
        """What the span leaves of the prior covariance with some candidates."""
        return self._kernel(self._X, self._X[ids]) - self._Z @ self._Z[ids].T


class DenseRun:
    """Plays beside an optimiser on a list and checks every pick.

    ``rule``: ``"global"``, ``"product"`` or ``None`` for what ends a batch; ``frozen`` as in BBKB;
    ``inflation``: what deviations are multiplied with inside a batch.
    """

    def __init__(self, opt, rule=None, *, frozen=False, inflation=1.0):
        self.opt, self.rule, self.frozen, self.inflation = opt, rule, frozen, inflation
        self.X = opt.domain.points
        self.pending = np.empty(0, dtype=int)
        self.upper = None
        self.version = None
        self.checked = 0  # picks that were compared
        self.clear = 0  # of those, picks that no tie leaves open
        self.led = 0  # picks of candidates that led

    def ask(self, n=None, *, fill=False):
        """Ask the optimiser, and check what it gives; uniform draws are taken as they are."""
        opt = self.opt
        start = self._start() if opt.t else None
        leading = [one.id for one in opt.top(opt.aim)] if opt.aim > 1 else []
        batch = opt.ask(n, fill=fill)
        left = batch.ids.tolist()
        while left and not (batch.uniform or batch.spread):
            room = self._room(n if fill else None)
            length = self._check(
                start, left, batch.info.upper[-len(left) :], n, fill, room, leading
            )
            self.pending = np.concatenate([self.pending, left[:length]])
            left = left[length:]
        self.pending = np.concatenate([self.pending, np.array(left, dtype=int)])
        return batch

    def tell(self, ids, y):
        """Tell the optimiser about pending evaluations or others."""
        self.opt.tell(ids, y)
        for id_ in np.atleast_1d(getattr(ids, "ids", ids)):
            where = np.flatnonzero(self.pending == id_)[:1]
            self.pending = np.delete(self.pending, where)

    def bounds_kept(self):
        """The smallest upper bound of every candidate so far (A); the prior's at first."""
        if self.upper is None:
            self._start()
        return self.upper

    def _start(self):
        """What is known at the start of a batch, from public names only."""
        opt = self.opt
        assumed, history = opt.assumed, opt.history
        y = (history.rewards - assumed.shift) / assumed.unit
        posterior = DensePosterior(
            assumed.kernel, self.X, assumed.lams, opt.dictionary, history.ids, y
        )
        widths = np.array([opt.beta * np.sqrt(assumed.lam)])
        if opt.width == "theory":
            own = posterior.theory(assumed.noise, assumed.norm, opt.delta, assumed.lams)
            np.testing.assert_allclose(own[0], widths[0], rtol=1e-4)
            widths = own
        version = (repr(assumed.kernel), assumed.noise, assumed.norm, assumed.lams)
        if self.upper is None or version != self.version:
            self.upper = assumed.norm * np.sqrt(posterior.prior)
            self.version = version
        return posterior, widths

    @property
    def intersected(self):
        opt = self.opt
        learnt = "auto" in (opt.noise, opt.norm) or isinstance(opt.kernel, str)
        default = opt.width in ("theory", "paper") and not learnt
        return default if opt.bounds is None else opt.bounds == "intersected"

    def _room(self, plate):
        """How often each candidate may be picked."""
        opt, size = self.opt, len(self.X)
        if opt.repeats is None:
            return np.full(size, np.inf if plate is None else -(-plate // size))
        told = np.bincount(opt.history.ids, minlength=size)
        return opt.repeats - told - np.bincount(self.pending, minlength=size)

    def _check(self, start, ids, upper, n, fill, room, leading):
        """Check one batch at the head of ``ids``; returns how long it is.

        A plate (``fill``) is one batch without an end of its own, exact and not inflated.
        """
        posterior, widths = start
        frozen, rule = (False, None) if fill else (self.frozen, self.rule)
        inflation = 1.0 if fill else self.inflation
        closed = np.flatnonzero(room <= 0)
        means, leverages = posterior.means, posterior.leverages
        cap = np.full(len(self.X), np.inf)
        if self.intersected:
            bounds = [m + w * np.sqrt(v) for m, w, v in zip(means, widths, leverages, strict=True)]
            cap = np.minimum(self.upper, np.min(bounds, axis=0))
        ratio = 1.0 + leverages[0][self.pending].sum()
        picks, seen = [], [np.inf]
        while len(picks) < len(ids):
            leverage = posterior.shrunk(self.pending, picks, frozen=frozen)
            inside = means[0] + inflation * widths[0] * np.sqrt(leverage)
            bound = np.where(room > 0, np.minimum(cap, inside), -np.inf)
            pick = ids[len(picks)]
            assert room[pick] > 0, "picked too often"
            challengers = bound.copy()
            challengers[leading] = -np.inf
            seen.append(challengers.max())
            if pick in leading:
                self._compare_leading(means[0], widths[0], leverage, room, leading, pick)
                assert leverage[pick] >= leverage[challengers.argmax()] - TIE
            else:
                self._compare(challengers, pick, upper[len(picks)])
            room[pick] -= 1
            picks.append(pick)
            if rule == "global":
                ratio += leverages[0][pick]
            elif rule == "product":
                ratio *= 1.0 + leverage[pick]
            if rule and ratio > self.opt.ratio:
                break
        else:
            assert fill or rule is None or len(ids) == n or not (room > 0).any(), "ended early"
        assert len(picks) == len(ids), "the batch went on after its end"
        if self.intersected:
            self._commit(cap, min(seen), closed, leading)
        return len(picks)

    def _compare_leading(self, mean, width, leverage, room, leading, pick):
        """Of the candidates that lead, the one with the smallest lower bound is next."""
        lower = mean - width * np.sqrt(leverage)
        open_ = [id_ for id_ in leading if room[id_] > 0]
        assert lower[pick] <= lower[open_].min() + TIE
        self.led += 1

    def _compare(self, bound, pick, upper):
        best = bound.max()
        assumed = self.opt.assumed
        seen = (upper - assumed.shift) / assumed.unit
        assert abs(seen - bound[pick]) <= TIE * max(1.0, abs(best)), "another bound"
        assert bound[pick] >= best - TIE, f"{pick} is not the best: {bound[pick]} < {best}"
        self.checked += 1
        self.clear += bool((bound > best - TIE).sum() == 1)

    def _commit(self, cap, level, closed, leading):
        """Bring candidates up to date: those that lead and the first by their bound, then others.

        The others are all whose bound is above the level. Closed candidates are passed over.
        """
        order = np.lexsort((np.arange(len(self.upper)), -self.upper))
        order = order[np.isin(order, [*closed, *leading], invert=True)]
        above = order[self.upper[order] > level]
        fresh = np.union1d([*leading, *order[:TOP]], above).astype(int)
        self.upper[fresh] = cap[fresh]


#: algorithm, its settings, what ends its batches, whether picks count outside the dictionary's span
CASES = {
    "gpucb": (nr.GPUCB, {}, None, False),
    "bkb": (nr.BKB, {"qbar": 0.5}, None, False),
    "bkb resample": (nr.BKB, {"qbar": 1.0, "dictionary": "resample"}, None, False),
    "gpbucb product": (nr.GPBUCB, {}, "product", False),
    "gpbucb global": (nr.GPBUCB, {"batch_rule": "global"}, "global", False),
    "gpbucb local": (nr.GPBUCB, {"batch_rule": "local"}, None, False),
    "bbkb": (nr.BBKB, {"qbar": 0.5}, "global", True),
    "bbkb resample": (nr.BBKB, {"qbar": 1.0, "dictionary": "resample"}, "global", True),
    "bbkb local": (nr.BBKB, {"qbar": 1.0, "batch_rule": "local"}, None, False),
}


def beside(case, X, kernel=KERNEL, **options):
    """An optimiser with a dense run beside it."""
    cls, own, rule, frozen = CASES[case]
    options = {"noise": 0.1, "norm": 4.0, "seed": 1, **own, **options}
    opt = cls(X, kernel, **options)
    proved = opt.width == "theory" and opt.adaptive
    return DenseRun(opt, rule, frozen=frozen, inflation=ROOT if proved else 1.0)


def play(dense, f, rounds=15, seed=0):
    """Old data, then up to three batches in flight, some cut short and some filled up."""
    rng = np.random.default_rng(seed)

    def rewards(ids):
        return f[ids] + 0.1 * rng.standard_normal(len(ids))

    # Uniform draws inside a plate cannot be told from picks.
    fills = "auto" not in (dense.opt.kernel, dense.opt.noise, dense.opt.norm)
    flights, old = [], rng.integers(len(f), size=3)
    dense.tell(old, rewards(old))
    for i in range(rounds):
        fill = i % 5 == 4 and fills
        flights.append(dense.ask(30 if i % 7 == 6 else 7 if i % 3 else 1, fill=fill))
        if len(flights) > 2:
            batch = flights.pop(0)
            dense.tell(batch, rewards(batch.ids))
        if i % 8 == 7:
            dense.tell(old, rewards(old))
    return dense
