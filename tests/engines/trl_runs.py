"""The exported `train.py` as it is, with few steps: trained, killed and resumed, and with LoRA. The weights must have the same bits."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from safetensors.numpy import load_file

from common import ROOT, WORK, Server, row

server = Server()
STEPS = 4


def folder(name, **lora):
    """A copy of the exported folder with few and small steps."""
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(WORK / 'trl-text', path)
    config = json.loads((path / 'config.json').read_text())
    config['args'].update(
        max_steps=STEPS, num_generations=4, generation_batch_size=8, per_device_train_batch_size=4, gradient_accumulation_steps=2,
        save_strategy='steps', save_steps=1, logging_steps=1, report_to='none',
    )
    config['lora'] = lora or None
    (path / 'config.json').write_text(json.dumps(config))
    return path


def start(path):
    log = open(path / 'log.txt', 'a')
    environment = {**os.environ, 'MUA_ENV_URL': server.url}
    return subprocess.Popen([sys.executable, 'train.py'], cwd=path, env=environment, stdout=log, stderr=log)


def history(path):
    state = path / 'out' / f'checkpoint-{STEPS}' / 'trainer_state.json'
    return [entry for entry in json.loads(state.read_text())['log_history'] if 'reward' in entry]


whole = folder('trl-whole')
ended = start(whole).wait()
if ended != 0:
    row('TRL', 'exported train.py', (whole / 'log.txt').read_text()[-300:], False)
    sys.exit()
steps = history(whole)
row('TRL', f'exported train.py, {STEPS} steps of 8', f'mean rewards {", ".join(format(float(step["reward"]), ".2f") for step in steps)}', len(steps) == STEPS)

killed = folder('trl-killed')
process = start(killed)
while process.poll() is None and not (killed / 'out' / 'checkpoint-2' / 'trainer_state.json').exists():
    time.sleep(0.2)
time.sleep(0.5)
process.send_signal(signal.SIGKILL)
process.wait()
ended = start(killed).wait()
one, two = (load_file(path / 'out' / 'model.safetensors') for path in (whole, killed))
same = one.keys() == two.keys() and all((one[name] == two[name]).all() for name in one)
row('TRL', 'killed after step 2, started again', f'{len(one)} tensors have the same bits as without the kill' if same else 'the weights differ', ended == 0 and same)

# The server dies in the middle of a run and comes back: the trainer waits, and no rollout gets the reward 0 for it.
broken = folder('trl-broken')
process = start(broken)
while process.poll() is None and not (broken / 'out' / 'checkpoint-1' / 'trainer_state.json').exists():
    time.sleep(0.2)
while process.poll() is None and server.open_sessions() == 0:
    time.sleep(0.05)
server.kill()
time.sleep(8)
server.start()
ended = process.wait()
text = (broken / 'log.txt').read_text()
waited = 'does not begin an episode' in text and server.url in text
row('TRL', 'server killed in a step, back after 8 s', f'{len(history(broken))} steps; the trainer waited and named the server', ended == 0 and waited)

lora = folder('trl-lora', r=4, lora_alpha=8, target_modules='all-linear')
ended = start(lora).wait()
out = WORK / 'trl-lora' / 'merged'
run = subprocess.run(['node', 'bin/mua.mjs', 'export', '--format', 'hf', '--model', str(WORK / 'hf'), '--lora', str(lora / 'out'), '--out', str(out)], cwd=ROOT, capture_output=True, text=True)
row('TRL with PEFT', f'LoRA, {STEPS} steps, then `mua export --lora`', 'the adapter is merged' if run.returncode == 0 else run.stderr.strip()[-200:], ended == 0 and run.returncode == 0)
run = subprocess.run(['node', 'bin/mua.mjs', 'export', '--format', 'hf', '--model', str(whole / 'out'), '--out', str(WORK / 'back')], cwd=ROOT, capture_output=True, text=True)
row('TRL', '`save_model`, then `mua export`', 'the folder is read as it is' if run.returncode == 0 else run.stderr.strip()[-200:], run.returncode == 0)
server.kill()
