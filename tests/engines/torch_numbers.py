"""transformers, PEFT and TRL's SFT on an exported model: log-probs, the end of a generation, parsing, the mask of supervised training."""

import json
import tempfile

import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from common import WORK, beyond_rounding, conversations, row

MODEL = str(WORK / 'hf')
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
worst = count = 0
with torch.no_grad():
    for trial in conversations('trials'):
        if trial['evaluation'] != 'recorded-before':
            continue
        ids = [token for node in trial['nodes'] for token in node['tokens']]
        wanted = [value for node in trial['nodes'] for value in node['logprobs']]
        found = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        for i, value in enumerate(wanted):
            if value is not None:
                count += 1
                worst = max(worst, beyond_rounding(found[i - 1, ids[i]].item(), value))
row('transformers', f'log-probs of {count:,} tokens that the browser sampled', f'at most {worst:.1e} off', count > 1000 and worst < 5e-4)

trial = conversations('trials')[0]
start = [token for node in trial['nodes'][:3] for token in node['tokens']]
out = model.generate(input_ids=torch.tensor([start]), attention_mask=torch.ones(1, len(start), dtype=torch.long), max_new_tokens=96, do_sample=False)
made = out[0, len(start) :].tolist()
row('transformers', 'generate without more settings', f'ends after {len(made)} tokens with {tokenizer.decode(made[-1:])}', len(made) < 96 and made[-1] == tokenizer.eos_token_id)
names = list(tokenizer('a', return_tensors='pt'))
call = '<tool_call>\n{"name": "get_user_details", "arguments": {"user_id": "a_1"}}\n</tool_call><|im_end|>'
parsed = tokenizer.parse_response(tokenizer.encode(call, add_special_tokens=False), prefix=start)
row('transformers', 'parse_response, names of inputs', f'call of {parsed["tool_calls"][0]["function"]["name"]}; {", ".join(names)}',
    parsed['tool_calls'][0]['function']['arguments'] == {'user_id': 'a_1'} and names == ['input_ids', 'attention_mask'])

chat = load_dataset('json', data_files=str(WORK / 'exports' / 'chat.jsonl'), split='train')
wrong = 0
for line in (WORK / 'exports' / 'chat.jsonl').read_text().splitlines():
    messages = json.loads(line)['messages']
    made = tokenizer.apply_chat_template(messages, return_dict=True, return_assistant_tokens_mask=True)
    sampled = tokenizer.decode([token for token, value in zip(made['input_ids'], made['assistant_masks']) if value])
    said = [message for message in messages if message['role'] == 'assistant']
    wrong += sampled.count('<|im_end|>') != len(said) or '<|im_start|>' in sampled or any(message['content'] not in sampled for message in said)
row('transformers', f'mask of the assistant in {len(chat)} chats', f'{wrong} wrong', wrong == 0)

torch.manual_seed(1)
adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32), LoraConfig(task_type='CAUSAL_LM', r=6, lora_alpha=12, target_modules='all-linear')).eval()
for name, value in adapted.named_parameters():
    if 'lora_' in name:
        torch.nn.init.normal_(value, std=0.1)
folder = tempfile.mkdtemp()
adapted.save_pretrained(folder)
(WORK / 'peft.txt').write_text(folder)
