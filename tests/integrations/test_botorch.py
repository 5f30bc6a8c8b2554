"""The sparse posterior as a BoTorch model."""

import pickle

import numpy as np
import pytest

import noregret as nr

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import (  # noqa: E402
    qKnowledgeGradient,
    qLogNoisyExpectedImprovement,
    qUpperConfidenceBound,
)
from botorch.generation import MaxPosteriorSampling  # noqa: E402
from botorch.models import SingleTaskGP  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402
from botorch.sampling import SobolQMCNormalSampler  # noqa: E402
from gpytorch import kernels as gk  # noqa: E402

from noregret.integrations.botorch import SparseModel, covariance  # noqa: E402
from noregret.kernels import WithLogs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
UNIT = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n)
    return torch.as_tensor(X), torch.as_tensor(y)[:, None]


def exact(X, Y, lengthscale=0.3, variance=1.5, noise=0.1):
    """A SingleTaskGP with fixed hyper-parameters."""
    base = gk.MaternKernel(nu=2.5, ard_num_dims=2)
    gp = SingleTaskGP(
        X,
        Y,
        torch.full_like(Y, noise**2),
        covar_module=gk.ScaleKernel(base),
        outcome_transform=None,
    )
    gp.covar_module.base_kernel.lengthscale = lengthscale
    gp.covar_module.outputscale = variance
    gp.mean_module.constant.data.fill_(0.0)
    return gp.eval()


def sparse(X, Y, lengthscale=0.3, variance=1.5, noise=0.1):
    opt = nr.GPUCB(
        nr.Box([(0, 1), (0, 1)]), nr.Matern(lengthscale, variance=variance), noise=noise, seed=0
    )
    opt.tell(X.numpy(), Y.numpy()[:, 0])
    return SparseModel.from_optimizer(opt)


@pytest.mark.parametrize("shape", [(7, 2), (3, 7, 2), (2, 3, 5, 2)])
def test_a_full_dictionary_gives_the_single_task_gp(shape):
    X, Y = data()
    points = torch.rand(shape, dtype=torch.float64, generator=torch.manual_seed(0))
    ours, theirs = sparse(X, Y).posterior(points), exact(X, Y).posterior(points)
    torch.testing.assert_close(ours.mean, theirs.mean, atol=1e-6, rtol=0)
    torch.testing.assert_close(
        ours.distribution.covariance_matrix,
        theirs.distribution.covariance_matrix,
        atol=1e-6,
        rtol=0,
    )
    noisy = sparse(X, Y).posterior(points, observation_noise=True)
    torch.testing.assert_close(noisy.variance, ours.variance + 0.01, atol=1e-9, rtol=0)


def test_more_observations_are_conditioned_on_exactly():
    X, Y = data()
    points = torch.rand((6, 2), dtype=torch.float64, generator=torch.manual_seed(1))
    once = sparse(X[:30], Y[:30]).condition_on_observations(X[30:36], Y[30:36])
    twice = once.condition_on_observations(X[36:], Y[36:])
    theirs = exact(X, Y).posterior(points)
    ours = twice.posterior(points)
    torch.testing.assert_close(ours.mean, theirs.mean, atol=1e-6, rtol=0)
    torch.testing.assert_close(ours.variance, theirs.variance, atol=1e-6, rtol=0)
    assert sparse(X, Y).batch_shape == torch.Size()


def test_fantasies_have_a_batch_shape():
    X, Y = data()
    model = sparse(X, Y)
    where = torch.rand((3, 2, 2), dtype=torch.float64, generator=torch.manual_seed(2))
    fantasy = model.fantasize(where, SobolQMCNormalSampler(torch.Size([4]), seed=0))
    assert fantasy.batch_shape == torch.Size([4, 3])
    assert fantasy.posterior(where).mean.shape == (4, 3, 2, 1)
    assert (fantasy.posterior(where).variance < model.posterior(where).variance + 1e-9).all()


@pytest.mark.parametrize("shape", [(3, 2), (6, 3, 2)])
def test_fantasies_are_those_of_the_single_task_gp(shape):
    X, Y = data()
    generator = torch.manual_seed(5)
    more = torch.rand(3, 2, 2, dtype=torch.float64, generator=generator)
    values = torch.rand(*shape, 1, dtype=torch.float64, generator=generator)
    points = torch.rand(3, 4, 2, dtype=torch.float64, generator=generator)
    model, gp = sparse(X, Y), exact(X, Y)
    gp.posterior(points)  # a SingleTaskGP conditions only after it has predicted
    noise = torch.full((3, 2, 1), 0.01, dtype=torch.float64)
    ours = model.condition_on_observations(more, values)
    theirs = gp.condition_on_observations(more, values, noise=noise)
    assert ours.batch_shape == theirs.batch_shape
    for found, expected in (
        (ours.posterior(points).mean, theirs.posterior(points).mean),
        (ours.posterior(points).variance, theirs.posterior(points).variance),
    ):
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    ours.to(torch.float32)
    assert model._inducing.dtype == torch.float64  # the model it came from stays as it is
    assert model.likelihood.noise.dtype == sparse(X, Y).likelihood.noise.dtype


def test_gradients_are_those_of_finite_differences():
    X, Y = data()
    model = sparse(X, Y)

    def variance_and_mean(points):
        posterior = model.posterior(points)
        return posterior.mean.sum() + posterior.variance.sum()

    points = torch.rand((4, 2), dtype=torch.float64, generator=torch.manual_seed(3))
    assert torch.autograd.gradcheck(variance_and_mean, points.requires_grad_())


def test_single_precision():
    X, Y = data()
    points = torch.rand((5, 2), generator=torch.manual_seed(4))
    single = sparse(X, Y).posterior(points)
    assert single.mean.dtype == torch.float32
    double = sparse(X, Y).posterior(points.double())
    torch.testing.assert_close(single.mean.double(), double.mean, atol=2e-3, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_what_the_processor_gives():
    X, Y = data()
    model = sparse(X, Y)
    points = torch.rand((3, 5, 2), dtype=torch.float64, generator=torch.manual_seed(6))
    for of in (model, model.condition_on_observations(X[:4], Y[:4])):
        here, there = of.posterior(points), of.posterior(points.cuda())
        assert there.mean.is_cuda
        torch.testing.assert_close(there.mean.cpu(), here.mean, atol=1e-9, rtol=0)
        torch.testing.assert_close(there.variance.cpu(), here.variance, atol=1e-9, rtol=0)
    point, _ = optimize_acqf(
        qLogNoisyExpectedImprovement(model.cuda(), X_baseline=X[:20].cuda()),
        bounds=UNIT.cuda(),
        q=2,
        num_restarts=2,
        raw_samples=32,
    )
    assert point.is_cuda


@pytest.mark.parametrize(
    "kernel",
    [
        nr.RBF([0.3, 0.5], variance=2.0),
        nr.Matern(0.4, nu=0.5),
        nr.Matern(0.4, nu=1.5) + 0.3 * nr.Linear(offset=0.5),
        nr.RBF(0.4) * nr.Matern(0.2),
        nr.Hamming([0.5, 1.0]),
        WithLogs(nr.RBF([0.3, 0.5, 1.0]), [1], [0.25]),
    ],
    ids=repr,
)
def test_kernels_on_tensors_are_the_kernels(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(6, 2)).round(1), rng.uniform(size=(5, 2)).round(1)
    found = covariance(kernel, torch.as_tensor(X), torch.as_tensor(Y))
    np.testing.assert_allclose(found.numpy(), kernel(X, Y), atol=1e-12)


def test_a_kernel_without_a_form_on_tensors_is_refused():
    with pytest.raises(ValueError, match="no form on tensors"):
        covariance(nr.Matern(0.4, nu=0.9), UNIT, UNIT)


def test_acquisition_functions_run_on_it():
    X, Y = data()
    model = SparseModel.from_data(X, Y, bounds=UNIT)
    few = {"bounds": UNIT, "num_restarts": 2, "raw_samples": 32}
    for acquisition in (
        qUpperConfidenceBound(model, beta=4.0),
        qLogNoisyExpectedImprovement(model, X_baseline=X[:20]),
    ):
        point, value = optimize_acqf(acquisition, q=2, **few)
        assert point.shape == (2, 2)
        assert torch.isfinite(value).all()
    gradient = qKnowledgeGradient(model, num_fantasies=4)
    point, _ = optimize_acqf(gradient, q=1, options={"maxiter": 5}, **few)
    assert point.shape == (1, 2)
    with torch.no_grad():
        drawn = MaxPosteriorSampling(model)(torch.rand(200, 2, dtype=torch.float64), num_samples=3)
    assert drawn.shape == (3, 2)


def test_samples_at_equal_points_agree():
    X, Y = data()
    model = sparse(X, Y)
    for of in (model, model.condition_on_observations(X[:4], Y[:4])):
        drawn = of.posterior(X[:1].repeat(5, 1)).rsample(torch.Size([3]))
        assert drawn.std(dim=1).max() < 1e-2


def test_standardised_rewards_come_back_in_their_units():
    X, Y = data(n=200)
    opt = nr.BBKB(nr.Box([(0, 1), (0, 1)]), "auto", noise="auto", width=2.0, seed=0)
    opt.tell(X.numpy(), 100 + 10 * Y.numpy()[:, 0])
    points = X[:9]
    posterior = SparseModel.from_optimizer(opt).posterior(points)
    mean, std = opt.predict(points.numpy())
    np.testing.assert_allclose(posterior.mean.numpy()[:, 0], mean, rtol=1e-8)
    np.testing.assert_allclose(posterior.variance.sqrt().numpy()[:, 0], std, rtol=1e-5)


def test_values_without_noise_and_a_typed_space():
    """The noise is learnt, and far below the smallest one that GPyTorch takes by default."""
    space = nr.Space({"a": nr.Float(1e-3, 1, log=True), "kind": nr.Choice(["u", "v", "w"])})
    opt = nr.TrustRegionUCB(space, "auto", noise="auto", norm="auto", width=2.0, seed=0)
    for _ in range(12):
        batch = opt.ask(1)
        point = batch.values[0]
        opt.tell(batch, [-abs(point["a"] - 0.1) - (point["kind"] != "u")])
    model, points = SparseModel.from_optimizer(opt), opt.ask(3).points
    warped = opt.assumed.warp.apply(opt.predict(points)[0])
    found = model.posterior(torch.as_tensor(points)).mean.squeeze(-1).numpy()
    np.testing.assert_allclose(found, warped, atol=1e-6)


def test_a_model_can_be_pickled():
    X, Y = data()
    model = SparseModel.from_data(X, Y, kernel=nr.RBF(0.3) + nr.Linear(), noise=0.1)
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again.posterior(X[:3]).mean, model.posterior(X[:3]).mean)


def test_wrong_input_is_refused():
    X, Y = data()
    with pytest.raises(ValueError, match="train_X must be"):
        SparseModel.from_data(X, Y[:3])
    with pytest.raises(ValueError, match="Y … × q × 1"):
        sparse(X, Y).condition_on_observations(X, Y[:, 0])
    cover = nr.PiGPUCB(nr.Box([(0, 1), (0, 1)]), nr.Matern(0.3, nu=1.5), horizon=100, seed=0)
    with pytest.raises(ValueError, match="one posterior"):
        SparseModel.from_optimizer(cover)
    model = SparseModel.from_data(X, Y, noise=0.1)
    with pytest.raises(ValueError, match=r"X must be … × n × 2, got shape \(4, 3\)"):
        model.posterior(torch.rand(4, 3))
    with pytest.raises(ValueError, match=r"X must be … × n × 2, got shape \(2,\)"):
        model.posterior(torch.rand(2))
    with pytest.raises(TypeError, match=r"made by SparseModel\.from_data\(train_X, train_Y\)"):
        SparseModel(X, Y)
    with pytest.raises(TypeError, match="train_X must be a tensor, got ndarray"):
        SparseModel.from_data(X.numpy(), Y)
    with pytest.raises(TypeError, match="opt must be an optimiser"):
        SparseModel.from_optimizer(model)
    with pytest.raises(ValueError, match=r"Tanimoto.* has no form on tensors"):
        SparseModel.from_optimizer(nr.BBKB(nr.Candidates(np.eye(3)), nr.Tanimoto(), noise=0.1))
    words = nr.BBKB(nr.Candidates(["a", "bb"]), lambda a, b: np.eye(2)[: len(a), : len(b)], noise=1)
    with pytest.raises(ValueError, match="rows of numbers, not objects"):
        SparseModel.from_optimizer(words)
