"""Types that a skops file of our estimators is made of, for those who load one."""

from sklearn.gaussian_process import kernels

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.pipeline import PossibilisticPipeline
from possibal.estimators.regressor import PossibilisticGPRegressor
from possibal.gp.feature_maps import ColumnCosines, DiffusionColumns, NoFeatures
from possibal.gp.kernels import KernelPrior, LeadingColumns
from possibal.gp.likelihoods import Identity, Logistic, Probit, Softmax
from possibal.gp.means import ConstantMean
from possibal.gp.posterior import Posterior, TrainingData
from possibal.gp.rbf import BlockRBF, FeatureRBF, Level, LogLinearDesign, RBFPrior, SphericalRBF

_OURS = (
    *(PossibilisticGPClassifier, PossibilisticGPRegressor, PossibilisticPipeline),
    *(Posterior, TrainingData, ConstantMean),
    *(Identity, Logistic, Probit, Softmax),
    *(RBFPrior, Level, LogLinearDesign, BlockRBF, FeatureRBF, SphericalRBF),
    *(KernelPrior, LeadingColumns, ColumnCosines, DiffusionColumns, NoFeatures),
)
_KERNELS = (
    *(kernels.ConstantKernel, kernels.WhiteKernel, kernels.DotProduct),
    *(kernels.RBF, kernels.Matern, kernels.RationalQuadratic, kernels.ExpSineSquared),
    *(kernels.Sum, kernels.Product, kernels.Exponentiation),
)


def skops_types() -> list[str]:
    """Names of the types to trust when skops loads an estimator of ours.

    Pass them as `trusted` to `skops.io.load`, or as `skops_trusted_types` to MLflow. They are our
    own and the kernels of scikit-learn, none of which runs code that a file brings. A prior mean
    that is a function, and kernels and transformers of your own, are yours to trust.
    """
    return [f"{one.__module__}.{one.__qualname__}" for one in (*_OURS, *_KERNELS)]
