"""An adapter that PEFT wrote, merged by `mua export --lora`: the log-probs must be those of PEFT."""

import subprocess
import tempfile

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from common import ROOT, WORK, conversations, row

MODEL, ADAPTER = str(WORK / 'hf'), (WORK / 'peft.txt').read_text()
out = tempfile.mkdtemp() + '/merged'
subprocess.run(['node', 'bin/mua.mjs', 'export', '--format', 'hf', '--model', MODEL, '--lora', ADAPTER, '--out', out], cwd=ROOT, check=True, capture_output=True)
load = lambda path: AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
theirs, ours = PeftModel.from_pretrained(load(MODEL), ADAPTER).eval(), load(out)
worst = 0.0
with torch.no_grad():
    for trial in conversations('trials')[:8]:
        ids = torch.tensor([[token for node in trial['nodes'] for token in node['tokens']]])
        worst = max(worst, (theirs(ids).logits.log_softmax(-1) - ours(ids).logits.log_softmax(-1)).abs().max().item())
row('PEFT', 'all-linear adapter of rank 6, merged by `mua export --lora`', f'log-probs at most {worst:.1e} off', worst < 5e-4)
