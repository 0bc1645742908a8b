"""Small GGUF files for tests/unit/exchange/gguf.test.ts, written by llama.cpp's package gguf, and what their tensors mean.

Usage: python3 tests/reference/gguf_files.py        (gguf 0.19.0, tokenizers 0.22.2; writes tests/reference/fixtures/gguf/)
  NAME.gguf: a decoder of random weights. Each of its matrices has another type. In a Llama, the rows of q and k are permuted as
  LlamaModel.permute of convert_hf_to_gguf.py does.
  NAME.json: for each tensor, the SHA-256 of the float32 values that gguf.quants computes from the stored blocks, in Hugging Face's
  order, and the first of them; and ids of texts from the Rust tokenizer, with the splits of the pre-tokenizer in llama.cpp.
"""
import hashlib
import json
import math
import pathlib

import gguf
import numpy
from gguf import GGMLQuantizationType as Type
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

FIXTURES = pathlib.Path(__file__).parent / 'fixtures' / 'gguf'
HIDDEN, MIDDLE, HEADS, KV_HEADS, HEAD, LAYERS = 256, 32, 4, 2, 8, 2
TYPES = dict(attn_q=Type.Q4_1, attn_k=Type.Q4_0, attn_v=Type.F16, attn_output=Type.Q5_0, ffn_gate=Type.Q4_K, ffn_up=Type.Q6_K, ffn_down=Type.BF16)
CHATML = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}')
QWEN2_TYPES = TYPES | dict(attn_q=Type.Q5_K, attn_k=Type.Q5_1)
NAMES = dict(attn_norm='input_layernorm', attn_q='self_attn.q_proj', attn_k='self_attn.k_proj', attn_v='self_attn.v_proj',
             attn_output='self_attn.o_proj', ffn_norm='post_attention_layernorm', ffn_gate='mlp.gate_proj', ffn_up='mlp.up_proj',
             ffn_down='mlp.down_proj')
TEXTS = ['In 1984 they said: “it\'s 12.50”.', 'a  b\n\n c\té <|im_end|> x', "WE'LL see 007", 'e\u0301 <tool_call>{"n": 10}</tool_call>', 'a  ½,  ² or  Ⅷ: ١٢x34  ½  ½']
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def permute(weights, heads):
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def blocks(rng, rows, columns, kind):
    """Stored bytes. gguf has no quantizer for the K types, so their blocks are random, with scales that are not extreme."""
    if kind not in (Type.Q4_K, Type.Q5_K, Type.Q6_K):
        return gguf.quants.quantize(rng.normal(0, 0.3, (rows, columns)).astype(numpy.float32), kind)
    values, size = gguf.GGML_QUANT_SIZES[kind]
    data = rng.integers(0, 256, (rows * columns // values, size), dtype=numpy.uint8)
    places = [208] if kind == Type.Q6_K else [0, 2]
    for at in places:
        data[:, at:at + 2] = rng.uniform(0.001, 0.01, (len(data), 1)).astype(numpy.float16).view(numpy.uint8)
    return data.reshape(rows, -1)


def tokenizer_of(pre):
    tokenizer = Tokenizer(models.BPE())
    if pre == 'smollm':
        splits = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    else:
        tokenizer.normalizer = normalizers.NFC()
        splits = [pre_tokenizers.Split(Regex(WORDS), 'isolated'), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=['<|im_start|>', '<|im_end|>'],
                                  show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    tokenizer.add_tokens(['<tool_call>', '</tool_call>'])
    return tokenizer


def write(name, arch, pre, seed):
    rng = numpy.random.default_rng(seed)
    llama = arch == 'llama'
    tokenizer = tokenizer_of(pre)
    model = json.loads(tokenizer.to_str())['model']
    kinds = {'<|im_start|>': 3, '<|im_end|>': 3, '<tool_call>': 4, '</tool_call>': 4}
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    rows = len(tokens) + 3
    fill = [f'[PAD{i}]' for i in range(len(tokens), rows)]
    writer = gguf.GGUFWriter(str(FIXTURES / f'{name}.gguf'), arch)
    writer.add_block_count(LAYERS)
    writer.add_context_length(4096)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(MIDDLE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0 if llama else 1000000.0)
    writer.add_tokenizer_model('gpt2')
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens + fill)
    writer.add_token_types([kinds.get(token, 1) for token in tokens] + [5] * len(fill))
    writer.add_token_merges([' '.join(merge) if isinstance(merge, list) else merge for merge in model['merges']])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(CHATML)
    expected = {}

    def vector(stored, to, values):
        writer.add_tensor(stored, values.astype(numpy.float32))
        expected[to] = values.astype(numpy.float32)

    def matrix(stored, to, height, width, kind, heads=0):
        data = blocks(rng, height, width, kind)
        expected[to] = gguf.quants.dequantize(data, kind).astype(numpy.float32).reshape(height, width)
        data = permute(data, heads) if heads else data
        writer.add_tensor(stored, data, raw_dtype=kind)

    matrix('token_embd.weight', 'model.embed_tokens.weight', rows, HIDDEN, Type.Q8_0)
    shapes = dict(attn_q=(HEADS * HEAD, HIDDEN), attn_k=(KV_HEADS * HEAD, HIDDEN), attn_v=(KV_HEADS * HEAD, HIDDEN),
                  attn_output=(HIDDEN, HEADS * HEAD), ffn_gate=(MIDDLE, HIDDEN), ffn_up=(MIDDLE, HIDDEN), ffn_down=(HIDDEN, MIDDLE))
    for layer in range(LAYERS):
        for part, to in NAMES.items():
            stored, to = f'blk.{layer}.{part}.weight', f'model.layers.{layer}.{to}.weight'
            if part in shapes:
                heads = dict(attn_q=HEADS, attn_k=KV_HEADS).get(part, 0) if llama else 0
                matrix(stored, to, *shapes[part], (TYPES if llama else QWEN2_TYPES)[part], heads)
                if not llama and part in ('attn_q', 'attn_k', 'attn_v'):
                    vector(stored.replace('weight', 'bias'), to.replace('weight', 'bias'), rng.normal(0, 0.1, shapes[part][0]))
            else:
                vector(stored, to, rng.normal(1, 0.1, HIDDEN))
    vector('output_norm.weight', 'model.norm.weight', rng.normal(1, 0.1, HIDDEN))
    if not llama:
        matrix('output.weight', 'lm_head.weight', rows, HIDDEN, Type.Q4_0)
    if llama:
        # The factors of Llama 3.2, as convert_hf_to_gguf.py computes them.
        factors = []
        for frequency in 1 / 500000.0 ** (numpy.arange(0, HEAD, 2) / HEAD):
            wavelength = 2 * math.pi / frequency
            smooth = (8192 / wavelength - 1) / (4 - 1)
            factors.append(1 if wavelength < 8192 / 4 else 32 if wavelength > 8192 else 1 / ((1 - smooth) / 32 + smooth))
        writer.add_tensor('rope_freqs.weight', numpy.array(factors, numpy.float32))
        print('rope factors', factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tensors = {to: dict(shape=values.shape, first=values.reshape(-1)[:4].tolist(),
                        sha256=hashlib.sha256(numpy.ascontiguousarray(values, '<f4').tobytes()).hexdigest()) for to, values in expected.items()}
    texts = [dict(text=text, ids=tokenizer.encode(text, add_special_tokens=False).ids) for text in TEXTS]
    (FIXTURES / f'{name}.json').write_text(json.dumps(dict(vocab_size=rows, texts=texts, tensors=tensors), ensure_ascii=False, indent=1) + '\n')


if __name__ == '__main__':
    FIXTURES.mkdir(parents=True, exist_ok=True)
    write('llama', 'llama', 'smollm', 1)
    write('qwen2', 'qwen2', 'qwen2', 2)
