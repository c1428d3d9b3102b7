"""The paper's multiclass model beside ours: variational softmax against Laplace's method.

The theory of the paper is Laplace's method, its multiclass experiments are GPyTorch's variational
softmax with 500 steps of Adam at a rate of 0.05 after every answer. Both go through the same runs
here, a few of them: a run of the former takes minutes.
"""

import sys
import warnings
from argparse import ArgumentParser
from time import perf_counter

import gpytorch
import joblib
import numpy as np
import torch
from threadpoolctl import threadpool_limits

from possibal.acquisition.registry import STRATEGIES
from possibal.arrays import Array
from possibal.belief import Belief
from possibal.experiments.datasets import load
from possibal.experiments.engine.simulation import SimulationTask, campaign_seed, simulate
from possibal.experiments.spec import MULTICLASS, experiment
from possibal.experiments.splits import split

ADAM_STEPS, ADAM_RATE = 500, 0.05


def variational(X: Array, y: Array, X_t: Array, labels: int) -> tuple[Array, Array]:
    """Latent means and variances (m, C) of GPyTorch's softmax classifier."""
    seen, codes = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.long)
    batch = torch.Size([labels])

    class Latents(gpytorch.models.ApproximateGP):
        """One latent for each label."""

        def __init__(self) -> None:
            family = gpytorch.variational
            free = family.CholeskyVariationalDistribution(len(seen), batch_shape=batch)
            inner = family.VariationalStrategy(self, seen, free, learn_inducing_locations=False)
            super().__init__(family.IndependentMultitaskVariationalStrategy(inner, labels))
            self.mean = gpytorch.means.ConstantMean(batch_shape=batch)
            self.covariance = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(batch_shape=batch), batch_shape=batch
            )

        def forward(self, rows: torch.Tensor) -> object:
            return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.covariance(rows))

    torch.manual_seed(0)
    model = Latents()
    link = gpytorch.likelihoods.SoftmaxLikelihood(num_classes=labels, mixing_weights=False)
    bound = gpytorch.mlls.VariationalELBO(link, model, len(seen))
    adam = torch.optim.Adam(model.parameters(), lr=ADAM_RATE)
    model.train()
    for _ in range(ADAM_STEPS):
        adam.zero_grad()
        loss = -bound(model(seen), codes)
        loss.backward()
        adam.step()
    model.eval()
    with torch.no_grad():
        latent = model(torch.tensor(X_t, dtype=torch.float32))
        return latent.mean.numpy().astype(float), latent.variance.numpy().astype(float)


def run_of(name: str, strategy: str, run: int, queries: int) -> tuple[list[float], float]:
    """Accuracies of one run of the variational model, and the seconds it took."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", module="gpytorch|linear_operator")
    data, plan, started = load(name), experiment(name), perf_counter()
    share = split(plan, data, run)
    known, accuracy = list(share.start), []
    for step in range(queries + 1):
        left = np.setdiff1d(share.pool, known)
        rows = np.concatenate([left, share.test])
        labels = len(data.labels)
        mean, variance = variational(share.X[known], data.y[known], share.X[rows], labels)
        guess = mean[len(left) :].argmax(axis=1)
        accuracy.append(float(np.mean(guess == data.y[share.test])))
        if step < queries:
            belief = Belief.of(mean[: len(left)], variance[: len(left)])
            rng = np.random.default_rng([campaign_seed(plan.seed, run), len(known)])
            score = STRATEGIES[strategy]
            merit = score(belief, rng=rng) if strategy == "random" else score(belief)
            known.append(int(left[merit.argmax()]))
    return accuracy, perf_counter() - started


def main() -> None:
    """Print final accuracies of both models on the same runs."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--sets", default=",".join(MULTICLASS))
    parser.add_argument("--strategies", default="random,uncertainty,necessity")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    asked = parser.parse_args()
    names = asked.strategies.split(",")
    heads = ("set", "strategy", "variational", "Laplace", "s a step", "ms a step")
    sys.stdout.write(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n")
    for name in asked.sets.split(","):
        jobs = [(name, one, run, asked.queries) for one in names for run in range(asked.runs)]
        found = joblib.Parallel(n_jobs=asked.jobs)(joblib.delayed(run_of)(*job) for job in jobs)
        task = SimulationTask(experiment(name), load(name), {one: STRATEGIES[one] for one in names})
        started = perf_counter()
        with threadpool_limits(1):
            ours = simulate(task, [(one, run) for _, one, run, _ in jobs])
        timing = 1e3 * (perf_counter() - started) / len(ours) / task.experiment.sizes.queries
        for one in names:
            theirs = [f for job, f in zip(jobs, found, strict=True) if job[1] == one]
            last = np.mean([accuracy[-1] for accuracy, _ in theirs])
            seconds = np.mean([s for _, s in theirs]) / (asked.queries + 1)
            mine = np.mean([t.accuracy[asked.queries] for t in ours if t.strategy == one])
            cells = (name, one, f"{last:.3f}", f"{mine:.3f}", f"{seconds:.1f}", f"{timing:.1f}")
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
