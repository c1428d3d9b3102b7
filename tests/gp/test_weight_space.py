import numpy as np
from sklearn.gaussian_process.kernels import RBF

from possibal.gp.kernels import KernelPrior
from possibal.gp.likelihoods import PROBIT
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.weight_space import in_weight_space


def test_a_kernel_that_is_not_linear_is_predicted_as_it_is():
    X = np.random.default_rng(0).normal(size=(20, 2))
    data = TrainingData(X, np.sign(X[:, :1]).T, np.ones((1, 20)), PROBIT)
    predictor = condition(KernelPrior((RBF(),), np.zeros((1, 1))), data).predictor
    assert in_weight_space(predictor) is predictor
