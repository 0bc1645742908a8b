"""What the checks of `npm run engines` share: the recorded conversations, a server to kill, and rows of the table."""

import json
import math
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
# The folder with the exports and the recorded conversations, which scripts/engines.mts prepares.
WORK = Path(os.environ.get('MUA_ENGINES_WORK', '.'))
END = '<|im_end|>'


def row(tool, what, result, ok):
    """Reports a row of the table. `ok` says whether the result is as wanted."""
    print('ROW ' + json.dumps({'tool': tool, 'what': what, 'result': result, 'ok': bool(ok)}, ensure_ascii=False), flush=True)


def conversations(name='trajectories'):
    """The conversations of the recorded run (`trajectories`), or of its evaluation before training (`trials`)."""
    return [json.loads(line) for line in (WORK / f'{name}.jsonl').read_text().splitlines()]


def one_of_each_task(name='trials'):
    """The first scored conversation of each task whose end the server knows: no token limit cut it."""
    found = {}
    for conversation in conversations(name):
        if conversation['termination'] != 'context_full':
            found.setdefault(conversation['task']['id'], conversation)
    return list(found.values())


def turns(conversation):
    return [node for node in conversation['nodes'] if node['role'] == 'assistant']


def words(node):
    return node['text'].replace(END, '')


def beyond_rounding(found, recorded):
    """How far a log-prob is off, beyond the rounding of the record to four digits."""
    half = 0.5 * 10 ** (math.floor(math.log10(abs(recorded))) - 3) if recorded else 0
    return max(0.0, abs(found - recorded) - half)


class Server:
    """`mua env-serve` on a port of its own. It can be killed, and started again on the same port."""

    def __init__(self, *flags):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        self.flags, self.url = flags, f'http://127.0.0.1:{self.port}'
        self.start()

    def start(self):
        command = ['node', 'bin/mua.mjs', 'env-serve', '--preset', 'nano', '--level', 'nano', '--port', str(self.port), *self.flags]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(f'{self.url}/health', timeout=1)
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f'{self.url} does not answer: expected mua env-serve')

    def open_sessions(self):
        text = urllib.request.urlopen(f'{self.url}/metrics', timeout=5).read().decode()
        return next(int(float(line.split()[-1])) for line in text.splitlines() if line.startswith('mua_sessions_open'))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
