"""Our sparse posterior as a BoTorch model, for its acquisition functions at 10⁴ observations.

    from noregret.integrations.botorch import SparseModel

    model = SparseModel.from_data(train_X, train_Y)  # or from_optimizer(opt)
    acquisition = qUpperConfidenceBound(model, beta=4.0)

Needs BoTorch: ``pip install "noregret[botorch]"``.
"""

import copy
from typing import Any, Self

import numpy as np

try:
    import torch
    from botorch.models.model import FantasizeMixin, Model
    from botorch.posteriors.gpytorch import GPyTorchPosterior
    from gpytorch.constraints import GreaterThan
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.likelihoods import GaussianLikelihood
    from linear_operator import to_linear_operator
    from torch import Tensor
except ImportError as error:
    raise ImportError(
        'noregret.integrations.botorch needs BoTorch: pip install "noregret[botorch]"'
    ) from error

from noregret import _checks
from noregret.algorithms import BBKB
from noregret.kernels import RBF, AnyKernel, Columns, Hamming, Kernel, Linear, Matern, Product, Sum
from noregret.kernels.composed import Scaled
from noregret.kernels.logs import WithLogs
from noregret.models.posterior import Posterior
from noregret.optimizer import Optimizer
from noregret.spaces import Box

#: the smallest variance of the noise that the likelihood takes
_LEAST_NOISE = 1e-10


class SparseModel(Model, FantasizeMixin):  # type: ignore[misc]
    """The posterior of an optimiser, as BoTorch sees models: one output, differentiable.

    With m inducing points the posterior at n points costs O(nm² + n²m), whatever the number of
    observations. If every observed point is an inducing point, it is that of a ``SingleTaskGP``
    with the same kernel and noise. The model works on the device and in the dtype of the points it
    is given; it maximises, as BoTorch does. Hyper-parameters are fixed: nothing is trained here.

    Acquisition functions that need observed points (``X_baseline`` of qLogNEI) take any of them:
    give the best few hundred, not all.
    """

    def __init__(self, posterior: Posterior, shift: float = 0.0, unit: float = 1.0) -> None:
        if not isinstance(posterior, Posterior):
            raise TypeError(
                "SparseModel is made by SparseModel.from_data(train_X, train_Y) or "
                f"SparseModel.from_optimizer(opt); posterior cannot be a {type(posterior).__name__}"
            )
        if not isinstance(posterior.inducing, np.ndarray) or posterior.inducing.ndim != 2:
            raise ValueError("opt must have candidates that are rows of numbers, not objects")
        super().__init__()
        self._kernel = posterior.kernel
        self._shift, self._unit = float(shift), float(unit)
        self._lam = float(posterior.lam)
        for name, array in {
            "inducing": posterior.inducing,
            "factor": posterior.factor,
            "root": posterior.root,
            "theta": posterior.theta,
        }.items():
            tensor = torch.as_tensor(np.array(array, dtype=np.float64))
            self.register_buffer(f"_{name}", tensor)
        covariance(self._kernel, self._inducing, self._inducing[:0])  # refuses unknown kernels
        constraint = GreaterThan(_LEAST_NOISE / 2)
        self.likelihood = GaussianLikelihood(noise_constraint=constraint).double()
        self.likelihood.noise = max(self._lam * self._unit**2, _LEAST_NOISE)
        self._more: tuple[Tensor, Tensor, Tensor] | None = None  # X, Y and noise of fantasies

    @classmethod
    def from_optimizer(cls, opt: Optimizer) -> Self:
        """What an optimiser believes now; rewards told later are not seen.

        On a typed space, points are the encoded vectors (``batch.points``). If the optimiser warps
        rewards, the model describes warped rewards: ``opt.assumed.warp.apply(y)``.
        """
        if not isinstance(opt, Optimizer):
            raise TypeError(f"opt must be an optimiser such as nr.BBKB(...), got {opt!r:.50}")
        bounds = opt.situation(pending=False).bounds
        posterior = getattr(bounds, "posterior", None)
        if not isinstance(posterior, Posterior):
            raise ValueError(f"opt must have one posterior; {type(opt).__name__} has many")
        return cls(posterior, opt.assumed.shift, opt.assumed.unit)

    @classmethod
    def from_data(
        cls,
        train_X: Tensor,
        train_Y: Tensor,
        *,
        kernel: AnyKernel = "auto",
        noise: float | str = "auto",
        bounds: Any = None,
        qbar: float = 4.0,
        seed: int | None = 0,
    ) -> Self:
        """A model of observations, with kernel and noise learnt if they are not given.

        Parameters
        ----------
        train_X, train_Y
            Observed points (n × d) and values (n × 1, or n).
        kernel, noise
            A kernel and the standard deviation of the noise, or ``"auto"``.
        bounds
            The box that points lie in (2 × d, as in BoTorch); by default that of ``train_X``.
        qbar
            Oversampling of the dictionary: larger is more accurate and slower.
        seed
            Seed of the draw of the dictionary.
        """
        for name, given in {"train_X": train_X, "train_Y": train_Y}.items():
            if not isinstance(given, Tensor):
                raise TypeError(f"{name} must be a tensor, got {type(given).__name__}")
        X = train_X.detach().cpu().double().numpy()
        y = train_Y.detach().cpu().double().numpy().reshape(-1)
        if X.ndim != 2 or not len(X) or len(X) != len(y):
            raise ValueError(
                "train_X must be n × d and train_Y n × 1, with n of at least 1; got shapes "
                f"{tuple(train_X.shape)} and {tuple(train_Y.shape)}"
            )
        if bounds is None:
            low, high = X.min(axis=0), X.max(axis=0)
            pairs = np.stack([low, np.where(high > low, high, low + 1.0)])
        else:
            pairs = np.asarray(bounds.detach().cpu() if isinstance(bounds, Tensor) else bounds)
        opt = BBKB(Box(pairs.T), kernel, noise=noise, width=2.0, qbar=qbar, seed=seed)  # type: ignore[arg-type]
        opt.tell(X, _checks.rewards(y, len(X)))
        return cls.from_optimizer(opt)

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """The batch shape of the fantasies; empty if there are none."""
        if self._more is None:
            return torch.Size()
        X, Y, _ = self._more
        return torch.broadcast_shapes(X.shape[:-2], Y.shape[:-2])

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
        **kwargs: Any,
    ) -> Any:
        """The joint posterior at points (… × n × d), with the noise if it is asked for."""
        if X.ndim < 2 or X.shape[-1] != self._inducing.shape[-1]:
            raise ValueError(
                f"X must be … × n × {self._inducing.shape[-1]}, got shape {tuple(X.shape)}"
            )
        if self._more is None:
            mean, joint = self._told(X)
        else:
            mean, joint = self._conditioned(X, *(part.to(X) for part in self._more))
        if isinstance(observation_noise, Tensor):
            joint = joint + torch.diag_embed(observation_noise.to(X).squeeze(-1).expand(mean.shape))
        elif observation_noise:
            eye = torch.eye(X.shape[-2], dtype=X.dtype, device=X.device)
            joint = joint + self._lam * self._unit**2 * eye
        # A tensor would be factorised here, without jitter: equal points would be an error.
        made = GPyTorchPosterior(MultivariateNormal(mean, to_linear_operator(joint)))
        return made if posterior_transform is None else posterior_transform(made)

    def _told(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Mean (… × n) and covariance (… × n × n) from the observations, in their units."""
        S, L, F, theta = (
            getattr(self, f"_{name}").to(X) for name in ("inducing", "factor", "root", "theta")
        )
        flat = X.reshape(-1, X.shape[-1])
        # z = L⁻¹k_S(x); variance = k − zᵀz + λ zᵀV⁻¹z with V⁻¹ = FFᵀ (BBKB eqs. 1 and 2)
        Z = torch.linalg.solve_triangular(L, covariance(self._kernel, S, flat), upper=False).T
        Z = Z.reshape(*X.shape[:-1], len(S))
        B = Z @ F
        joint = covariance(self._kernel, X, X) - Z @ Z.mT + self._lam * (B @ B.mT)
        return self._shift + self._unit * (Z @ theta), self._unit**2 * joint

    def _conditioned(
        self, X: Tensor, more: Tensor, values: Tensor, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Mean and covariance given fantasies too: the Gaussian conditional of the posterior."""
        shape = torch.broadcast_shapes(X.shape[:-2], more.shape[:-2], values.shape[:-2])
        X, more = (part.expand(*shape, *part.shape[-2:]) for part in (X, more))
        n = X.shape[-2]
        mean, joint = self._told(torch.cat([X, more], dim=-2))
        seen = joint[..., n:, n:] + torch.diag_embed(noise.expand(*shape, -1, 1).squeeze(-1))
        lower = torch.linalg.cholesky(seen)
        half = torch.linalg.solve_triangular(lower, joint[..., n:, :n], upper=False)
        residual = values.expand(*shape, -1, 1) - mean[..., n:, None]
        pull = torch.linalg.solve_triangular(lower, residual, upper=False)
        moved = mean[..., :n] + (half.mT @ pull).squeeze(-1)
        return moved, joint[..., :n, :n] - half.mT @ half

    def condition_on_observations(
        self, X: Tensor, Y: Tensor, noise: Tensor | None = None, **kwargs: Any
    ) -> Self:
        """A model that has seen more observations: X (… × q × d), Y (… × q × 1).

        The conditioning is exact and costs O(q³); for thousands of observations make a new model.
        """
        if Y.shape[-1] != 1 or X.shape[-2] != Y.shape[-2]:
            raise ValueError(
                f"X must be … × q × d and Y … × q × 1, got shapes {tuple(X.shape)} and "
                f"{tuple(Y.shape)}"
            )
        given = torch.full_like(Y, self._lam * self._unit**2) if noise is None else noise.to(Y)
        fresh = X, Y, given.expand(Y.shape)
        if self._more is not None:
            fresh = tuple(
                _stacked(old.to(new), new) for old, new in zip(self._more, fresh, strict=True)
            )
        made = type(self).__new__(type(self))
        Model.__init__(made)
        made.__dict__.update({k: v for k, v in vars(self).items() if k != "_more"})
        # Both models share the tensors until one of them moves to another device or dtype.
        made._buffers = dict(self._buffers)
        made._modules = {name: copy.deepcopy(part) for name, part in self._modules.items()}
        made._more = fresh
        return made

    def transform_inputs(self, X: Tensor, input_transform: Any = None) -> Tensor:
        """The points themselves."""
        return X


def _stacked(old: Tensor, new: Tensor) -> Tensor:
    """Points of fantasies and more of them (… × q × k)."""
    shape = torch.broadcast_shapes(old.shape[:-2], new.shape[:-2])
    return torch.cat([part.expand(*shape, *part.shape[-2:]) for part in (old, new)], dim=-2)


def covariance(kernel: Kernel, X: Tensor, Y: Tensor) -> Tensor:
    """A kernel on tensors: … × n × d and … × k × d give … × n × k, differentiable in both."""
    if isinstance(kernel, Sum):
        return covariance(kernel.left, X, Y) + covariance(kernel.right, X, Y)
    if isinstance(kernel, Product):
        return covariance(kernel.left, X, Y) * covariance(kernel.right, X, Y)
    if isinstance(kernel, Scaled):
        return kernel.variance * covariance(kernel.kernel, X, Y)
    if isinstance(kernel, Columns):
        return covariance(kernel.kernel, X[..., kernel.columns], Y[..., kernel.columns])
    if isinstance(kernel, WithLogs):
        return covariance(kernel.kernel, _with_logs(kernel, X), _with_logs(kernel, Y))
    if isinstance(kernel, Linear):
        return kernel.variance * (X @ Y.mT + kernel.offset)
    if isinstance(kernel, Hamming):
        return _hamming(kernel, X, Y)
    if isinstance(kernel, RBF):
        return kernel.variance * torch.exp(-0.5 * _squared(kernel, X, Y))
    if isinstance(kernel, Matern) and kernel.nu in (0.5, 1.5, 2.5):
        return kernel.variance * _matern(kernel.nu, _squared(kernel, X, Y))
    raise ValueError(
        f"{kernel!r} has no form on tensors: use RBF, Matern with ν = 1/2, 3/2 or 5/2, Linear, "
        "Hamming, and their sums and products"
    )


def _with_logs(kernel: WithLogs, X: Tensor) -> Tensor:
    """The points that the kernel inside sees (… × n × (d + k))."""
    floors = torch.as_tensor(kernel.floors, dtype=X.dtype, device=X.device)
    return torch.cat([X, torch.maximum(X[..., kernel.columns], floors).log()], dim=-1)


def _squared(kernel: RBF | Matern, X: Tensor, Y: Tensor) -> Tensor:
    """Squared scaled distances (… × n × k)."""
    scale = torch.as_tensor(kernel.lengthscale, dtype=X.dtype, device=X.device)
    X, Y = X / scale, Y / scale
    centre = X.detach().reshape(-1, X.shape[-1]).mean(dim=0)  # far from 0 squares lose digits
    X, Y = X - centre, Y - centre
    squares = X.square().sum(-1).unsqueeze(-1) + Y.square().sum(-1).unsqueeze(-2)
    return (squares - 2.0 * (X @ Y.mT)).clamp_min(0.0)


def _matern(nu: float, squared: Tensor) -> Tensor:
    s = (2.0 * nu * squared).clamp_min(1e-30).sqrt()  # the root has no slope at 0
    factor = 1.0 if nu == 0.5 else 1.0 + s if nu == 1.5 else 1.0 + s + s.square() / 3.0
    return factor * torch.exp(-s)


def _hamming(kernel: Hamming, X: Tensor, Y: Tensor) -> Tensor:
    weights = torch.as_tensor(kernel.weight, dtype=X.dtype, device=X.device)
    differ = X.unsqueeze(-2) != Y.unsqueeze(-3)
    return torch.exp(-(differ * weights).sum(-1))
