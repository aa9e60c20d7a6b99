"""What goes on in a thread of its own while a test does something else."""
import threading

from servers import let_pass


class Beside:
    """Runs step() again and again while a block runs; an error of it is the block's."""

    pause = 0.0  # seconds between two steps

    def __init__(self):
        self.done, self.error = False, None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.thread.join()
        self.end()
        if self.error:
            raise self.error

    def run(self):
        try:
            while not self.done:
                self.step()
                let_pass("its rhythm", self.pause)
        except Exception as e:
            self.error = e

    def step(self):
        raise NotImplementedError

    def end(self):
        """After the last step."""
