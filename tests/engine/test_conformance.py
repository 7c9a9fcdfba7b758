from tacit.engine.threads import Threads
from tacit.testing import EngineTests


class TestThreads(EngineTests):
    def make(self, ratings, workers):
        return Threads(ratings, workers)
