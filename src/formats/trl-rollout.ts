/** @file TRL's `rollout_func` for models of the playground: words are plain text, and tool calls are markup, as in training here. */

export const trlRollout = (
  title: string,
): string => `"""${title} for TRL's GRPOTrainer, with the playground's own prompt: words are plain text, and tool calls are markup."""

import json
from pathlib import Path

import torch

from mua_server import Episode

LIMITS = json.loads((Path(__file__).parent / "config.json").read_text())["limits"]
TOOL_CALL_END = "</tool_call>"
# A word that no template contains.
WORDS = "Zqwords"


class Talk:
    """One conversation: its tokens, which of them were sampled, and its reward."""

    def __init__(self, row, tokenizer, template):
        self.tokenizer, self.template, self.reward, self.done, self.error = tokenizer, template, 0.0, False, None
        self.episode = Episode()
        first = self.episode.reset(row["task_id"], row["seed"])
        written = dict(add_generation_prompt=True, tokenize=True, return_dict=False, **template)
        self.prompt = tokenizer.apply_chat_template(first["messages"], tools=first["tools"], **written)
        if first["tools"] and self.prompt == tokenizer.apply_chat_template(first["messages"], **written):
            raise ValueError("the chat template of the model leaves out the tools: expected one with tools, such as that of Qwen/Qwen3-0.6B")
        self.ids, self.mask = [], []
        if self.room < 1:
            self.end(0.0)

    @property
    def room(self):
        """The number of tokens that the agent may sample now."""
        return min(LIMITS["turn"], LIMITS["context"] - len(self.prompt) - len(self.ids))

    def end(self, reward):
        self.reward, self.done = reward, True
        self.episode.close()

    def say(self, sampled, stops):
        """Plays a turn. A turn that a limit cut ends the conversation with reward 0, as in the playground."""
        cut = next((i for i, token in enumerate(sampled) if token in stops), None)
        sampled = sampled[: self.room] if cut is None else sampled[: cut + 1]
        self.ids += sampled
        self.mask += [1] * len(sampled)
        if cut is None:
            return self.end(0.0)
        closed = sampled[-1] == self.tokenizer.eos_token_id
        seen = self.episode.step({"content": self.tokenizer.decode(sampled[:-1] if closed else sampled)})
        if seen is None:
            self.error = self.episode.error
            return self.end(None)
        if self.episode.done:
            return self.end(self.episode.reward)
        given = self.given("tool" if seen["role"] == "tool" else "user", seen["content"], closed)
        # One token must be free after the generation prompt.
        if len(self.prompt) + len(self.ids) + len(given) + 1 >= LIMITS["context"]:
            return self.end(0.0)
        self.ids += given
        self.mask += [0] * len(given)

    def given(self, role, content, closed):
        """The tokens between two turns of the agent. \`closed\`: the agent has written the end of its turn."""
        messages = [{"role": "user", "content": ""}, {"role": "assistant", "content": WORDS}, {"role": role, "content": content}]
        text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False, **self.template)
        after = text.split(WORDS, 1)[1]
        if closed:
            after = after.removeprefix(self.tokenizer.eos_token)
        return self.tokenizer.encode(after, add_special_tokens=False)


def stop_tokens(tokenizer):
    """A turn ends with the end token, or with its first tool call."""
    known = tokenizer.get_vocab()
    return [known[token] for token in (tokenizer.eos_token, "<|endoftext|>", TOOL_CALL_END) if token in known]


@torch.no_grad()
def play(rows, trainer):
    tokenizer, args = trainer.processing_class, trainer.args
    model = trainer.accelerator.unwrap_model(trainer.model)
    stops = stop_tokens(tokenizer)
    talks = [Talk(row, tokenizer, args.chat_template_kwargs or {}) for row in rows]
    training = model.training
    model.eval()
    while live := [talk for talk in talks if not talk.done]:
        sequences = [talk.prompt + talk.ids for talk in live]
        width = max(map(len, sequences))
        padded = [[tokenizer.pad_token_id] * (width - len(ids)) + ids for ids in sequences]
        mask = [[0] * (width - len(ids)) + [1] * len(ids) for ids in sequences]
        out = model.generate(
            input_ids=torch.tensor(padded, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            max_new_tokens=max(talk.room for talk in live),
            do_sample=args.temperature > 0,
            temperature=args.temperature or None,
            top_p=args.top_p,
            top_k=args.top_k,
            eos_token_id=stops,
            pad_token_id=tokenizer.pad_token_id,
        )
        for talk, sampled in zip(live, out[:, width:].tolist()):
            talk.say(sampled, stops)
    model.train(training)
    return talks


def rollout(prompts, trainer):
    """Plays a batch. The prompt of a row is the task and the seed, as JSON. A conversation without a score has reward None."""
    rows = [json.loads(prompt[-1]["content"]) for prompt in prompts]
    talks = play(rows, trainer)
    # If no conversation has a reward, TRL would update the weights by the KL term alone. A reset waits for the server.
    if all(talk.reward is None for talk in talks):
        talks = play(rows, trainer)
    if all(talk.reward is None for talk in talks):
        raise ConnectionError(f"no conversation of this batch has a reward: {talks[0].error}. Start the server, then start train.py again")
    end = trainer.processing_class.eos_token_id
    return {
        "prompt_ids": [talk.prompt for talk in talks],
        # TRL needs a token for each conversation.
        "completion_ids": [talk.ids or [end] for talk in talks],
        # Without a score, no token takes part in the loss.
        "env_mask": [[0] * max(1, len(talk.mask)) if talk.reward is None else talk.mask or [0] for talk in talks],
        "logprobs": None,
        "outcome": [talk.reward for talk in talks],
    }


def reward(outcome, **_):
    return outcome
`;
