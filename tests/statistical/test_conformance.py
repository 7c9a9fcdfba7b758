"""The two additive laws pass the shipped conformance of samplers."""

from __future__ import annotations

from tacit.noise.gaussian import discrete_gaussian
from tacit.noise.laplace import discrete_laplace
from tacit.testing import SamplerTests
from tacit.testing.sampler import gaussian_cdf, laplace_cdf


class TestGaussian(SamplerTests):
    def draw(self, n, scale):
        return discrete_gaussian(n, scale)

    def cdf(self, scale):
        return gaussian_cdf(scale)


class TestLaplace(SamplerTests):
    def draw(self, n, scale):
        return discrete_laplace(n, scale)

    def cdf(self, scale):
        return laplace_cdf(scale)
