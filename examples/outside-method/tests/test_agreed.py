"""Three lines give the method all conformance tests that Tacit ships."""

from tacit.testing import MethodTests
from tacit_agreed import Agreed


class TestAgreed(MethodTests):
    method = Agreed
