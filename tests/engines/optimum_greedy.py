"""optimum-onnx against transformers on our ONNX folder of small-retail. (nano has another head_dim than hidden / heads, which optimum assumes.)"""

import torch
from optimum.onnxruntime import ORTModelForCausalLM
from transformers import AutoModelForCausalLM, AutoTokenizer

from common import WORK, row

tokenizer = AutoTokenizer.from_pretrained(str(WORK / 'onnx-small'))
theirs = AutoModelForCausalLM.from_pretrained(str(WORK / 'hf-small'), torch_dtype=torch.float32).eval()
ours = ORTModelForCausalLM.from_pretrained(str(WORK / 'onnx-small'))
inputs = tokenizer('<|im_start|>user\nHello, I want to cancel my order.<|im_end|>\n<|im_start|>assistant\n', return_tensors='pt')
with torch.no_grad():
    worst = (theirs(**inputs).logits - ours(**inputs).logits).abs().max().item()
made = [model.generate(**inputs, max_new_tokens=30, do_sample=False)[0].tolist() for model in (theirs, ours)]
row('optimum-onnx', 'ORTModelForCausalLM, small-retail', f'logits at most {worst:.1e} off, {len(made[0]) - inputs["input_ids"].shape[1]} greedy tokens equal', worst < 5e-4 and made[0] == made[1])
