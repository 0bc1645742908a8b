"""`vf-eval` of verifiers with the exported taskset and a model that says recorded words. The server is killed, started again, resumed."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from common import WORK, Server, one_of_each_task, row, turns, words

server = Server()
recorded = {conversation['task']['id']: conversation for conversation in one_of_each_task()[:8]}
(WORK / 'verifiers' / 'mua_environment' / 'rows.jsonl').write_text(
    ''.join(json.dumps({'task_id': task, 'seed': conversation['userSeed']}) + '\n' for task, conversation in recorded.items())
)
asked, kill_at = 0, None


def text_of(message):
    content = message.get('content') or ''
    return content if isinstance(content, str) else ''.join(part.get('text', '') for part in content)


class Model(BaseHTTPRequestHandler):
    """An endpoint in OpenAI's format. The first observation names the task, and each request gets the next recorded turn."""

    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def send(self, data, kind='application/json'):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send(json.dumps({'object': 'list', 'data': [{'id': 'recorded', 'object': 'model', 'owned_by': 'test'}]}).encode())

    def do_POST(self):
        global asked
        request = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        asked += 1
        if asked == kill_at:
            server.kill()
        messages = request['messages']
        task = re.search(r'"task_id":\s*"([^"]+)"', '\n'.join(map(text_of, messages)))
        said = [words(node) for node in turns(recorded[task.group(1)])] if task else []
        done = sum(message['role'] == 'assistant' for message in messages)
        text = said[done] if done < len(said) else 'Goodbye.'
        base = {'id': f'r{asked}', 'created': int(time.time()), 'model': 'recorded'}
        usage = {'prompt_tokens': 1, 'completion_tokens': 1, 'total_tokens': 2}
        if request.get('stream'):
            parts = [
                {'choices': [{'index': 0, 'delta': {'role': 'assistant', 'content': text}, 'finish_reason': None}]},
                {'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}], 'usage': usage},
            ]
            chunks = [f'data: {json.dumps({**base, "object": "chat.completion.chunk", **part})}\n\n' for part in parts]
            return self.send((''.join(chunks) + 'data: [DONE]\n\n').encode(), 'text/event-stream')
        choice = {'index': 0, 'message': {'role': 'assistant', 'content': text}, 'finish_reason': 'stop', 'logprobs': None}
        self.send(json.dumps({**base, 'object': 'chat.completion', 'usage': usage, 'choices': [choice]}).encode())


endpoint = ThreadingHTTPServer(('127.0.0.1', 0), Model)
threading.Thread(target=endpoint.serve_forever, daemon=True).start()
readme = (WORK / 'verifiers' / 'README.md').read_text()
command = next(line for line in readme.splitlines() if line.startswith('vf-eval'))
command = command.replace('MODEL', 'recorded').replace('URL', f'http://127.0.0.1:{endpoint.server_port}/v1').split()
environment = {**os.environ, 'MUA_ENV_URL': server.url, 'PYTHONPATH': str(WORK / 'verifiers'), 'PRIME_API_KEY': 'none'}


def evaluate(folder, *more):
    flags = ['-o', folder, '--run.dir', 'run', '-c', '8'] if not more else []
    full = [str(Path(sys.executable).parent / 'vf-eval'), *(more or command[1:]), *flags]
    run = subprocess.run(full, env=environment, capture_output=True, text=True, timeout=900, cwd=folder)
    traces = Path(folder) / 'run' / 'traces.jsonl'
    if not traces.exists():
        raise RuntimeError((run.stdout + run.stderr)[-2000:])
    return [json.loads(line) for line in traces.read_text().splitlines()], run.stdout + run.stderr


def reward_of(trace):
    scores = [reward['score'] for own in trace['traces'] for reward in own['rewards'].values()]
    return None if trace['errors'] or not scores else sum(scores)


with tempfile.TemporaryDirectory() as folder:
    traces, _ = evaluate(folder)
    rewards = sorted(reward_of(trace) for trace in traces)
    wanted = sorted(float(conversation['reward']) for conversation in recorded.values())
    row('verifiers', f'vf-eval, {len(recorded)} recorded conversations', f'rewards of {sum(a == b for a, b in zip(rewards, wanted))} equal, mean {sum(rewards) / len(rewards):.2f}', rewards == wanted)
with tempfile.TemporaryDirectory() as folder:
    asked, kill_at = 0, 16
    traces, text = evaluate(folder)
    broken = [trace for trace in traces if reward_of(trace) is None]
    # verifiers names a task by the server's address, and writes the error of the connection beside it.
    named = all(trace['errors'] and str(server.port) in trace['task']['data']['name'] for trace in broken)
    row(
        'verifiers',
        'server killed in the evaluation',
        f'{len(broken)} of {len(traces)} rollouts have an error beside the server’s address, and no reward',
        broken and named,
    )
    kill_at = None
    server.start()
    traces, _ = evaluate(folder, '@', str(Path(folder) / 'run' / 'configs' / 'resolved' / 'eval.json'), '--resume')
    latest = sorted(value for value in map(reward_of, traces) if value is not None)
    row('verifiers', 'resumed with --resume', f'rewards of {sum(a == b for a, b in zip(latest, wanted))} of {len(wanted)} equal', latest == wanted)
server.kill()
