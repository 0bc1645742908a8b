/** @file The six lessons. */
import { RECORDED } from '../logic/recorded.ts';
import { href, type Query } from '../logic/routes.ts';
import type { Examples } from './examples.ts';
import { at, type Lesson, type LessonPage, type Sight } from './lesson.ts';
import type { LessonId } from './titles.ts';

const home = '#/';
const run = href({ name: 'run', run: RECORDED });
const rollout = (id: string | null | undefined, query: Partial<Query<'rollout'>>) => (id ? href({ name: 'rollout', run: RECORDED, id }, query) : run);
const coloured = (ch: Query<'rollout'>['ch']) => (sight: Sight) => at(sight, 'rollout')?.ch === ch;
const play = ({ task }: Examples, as: 'user' | 'agent') => (task ? href({ name: 'play', domain: task.domain, task: task.id }, { as }) : home);

const PAGES: Record<LessonId, LessonPage[]> = {
  mask: [
    {
      text: [
        'To the model a conversation is one row of tokens: the shop’s rules, the tools, what the customer says, what the tools answer, and what the agent writes.',
        'Only the last kind was sampled by the model, and only those tokens are trained. The mask says which they are.',
      ],
      task: 'Open a recorded conversation as the model saw it, coloured by the mask.',
      focus: ['legend'],
      open: ({ rollout: id }) => rollout(id, { view: 'rendered', ch: 'mask' }),
      done: (sight) => coloured('mask')(sight) && at(sight, 'rollout')?.view === 'rendered',
    },
    {
      text: ['Dim tokens were given to the model. Nothing will make them more or less likely: the customer’s words are not the agent’s to learn.'],
      task: 'Choose a token: click it, or move with h and l.',
      focus: ['token'],
      done: (sight) => at(sight, 'rollout')?.tok !== null && at(sight, 'rollout') !== null,
    },
    {
      text: ['For each token of its own the model had a probability. Where it was sure, an update has little to do; where it wavered, one choice may have decided the conversation.'],
      task: 'Colour the tokens by their log-probability.',
      focus: ['legend'],
      done: coloured('logprob'),
    },
    {
      text: [
        'And the reward? Nobody grades the words. At the end the database is compared with what the customer’s task demands: 1 if it is exactly that, otherwise 0.',
        'That one number is all that training gets from this conversation.',
      ],
      focus: ['reward'],
    },
  ],
  customer: [
    {
      text: ['The customer has a wish, some facts about themselves, and a temper. The agent knows none of it, and must not act before it knows who is speaking.'],
      task: 'Take the customer’s seat.',
      focus: ['brief'],
      open: (examples) => play(examples, 'user'),
      done: (sight) => at(sight, 'play')?.as === 'user',
    },
    {
      text: [
        'Say what the brief wants, a little at a time. Give your email only when asked. Say yes only to what you want done, and try changing your mind.',
        'Notice what the agent must keep apart: what you said, what it looked up, and what it promised.',
      ],
    },
    {
      text: ['Now the harder seat. As the agent you fill in tool calls yourself; the scripted customer answers. What you can get wrong here is what the model gets wrong.'],
      task: 'Change sides and be the agent.',
      open: (examples) => play(examples, 'agent'),
      done: (sight) => at(sight, 'play')?.as === 'agent',
    },
    {
      text: ['The rules you were held to are the agent’s first message. They demand an explicit yes before any change; the reward only sees the database.'],
      task: 'Read the domain policy.',
      open: ({ task }) => href({ name: 'world', domain: task?.domain ?? 'retail', tab: 'policy' }),
      done: ({ place: { route } }) => route.name === 'world' && route.tab === 'policy',
    },
  ],
  group: [
    {
      text: ['GRPO plays one task several times from the same start. Nobody tells it what is good: a try is good if it did better than the others of its group.'],
      task: 'Open a group with right and wrong tries.',
      focus: ['group-columns'],
      open: ({ mixed }) => (mixed ? href({ name: 'group', run: RECORDED, group: mixed.group }) : run),
      done: (sight) => at(sight, 'group') !== null,
    },
    {
      text: ['Each line is a turn: ask, look up, write, confirm. Follow a right and a wrong try from the top until they part.'],
      task: 'Pin a right and a wrong try to read them side by side.',
      focus: ['group-columns', 'aligned-pair'],
      open: ({ mixed }) => (mixed ? href({ name: 'group', run: RECORDED, group: mixed.group }) : run),
      done: (sight) => /^[^,]+,[^,]+/.test(at(sight, 'group')?.pin ?? ''),
    },
    {
      text: [
        'The advantage of a try is its reward less the mean of the group, over the deviation. It is one number for the whole conversation.',
        'So every token of a wrong try is pushed down alike, the sensible ones too. Only many groups together tell them apart.',
      ],
      task: 'Open the wrong try, coloured by advantage: the colour is flat.',
      open: ({ mixed, rollout: id }) => rollout(mixed?.wrong ?? id, { view: 'rendered', ch: 'advantage' }),
      done: coloured('advantage'),
    },
    {
      text: [
        'Where all tries are right, or all wrong, every advantage is 0: no gradient, whatever it cost to play them.',
        'That is why the share of mixed groups says more about what a run can still learn than the reward does.',
      ],
      task: 'Look at the group outcomes of the whole run.',
      focus: ['chart-groups'],
      open: () => run,
      done: (sight) => at(sight, 'run') !== null,
    },
  ],
  update: [
    {
      text: ['Advantage times (1 − p) is a rough measure of how hard the update pushes on a token: hardly at all where the model was sure already. It is an approximation, and the page says so.'],
      task: 'Colour a conversation by pressure.',
      focus: ['legend'],
      open: ({ mixed, rollout: id }) => rollout(mixed?.right ?? id, { view: 'rendered', ch: 'pressure' }),
      done: coloured('pressure'),
    },
    {
      text: [
        'Pressure is what was meant. What happened is another matter: tokens share their weights, so a push on one moves others.',
        'For some groups the trainer measured each probability again after the update. Where it did not, there is no value, which is not the same as no change.',
      ],
      task: 'Colour by Δp, the probability after minus before.',
      focus: ['legend'],
      done: coloured('delta_p'),
    },
    {
      text: ['Two brakes keep an update small. The ratio of new to old probability is clipped, and the divergence from the starting policy costs a little at every token.'],
      task: 'Colour by the ratio, or by the divergence (KL).',
      focus: ['legend'],
      done: (sight) => coloured('ratio')(sight) || coloured('kl')(sight),
    },
    {
      text: [
        'One update moves little. Other weights can score the same tokens again: those that came out of forty updates, for instance, which are bundled.',
        'Where a token has become much likelier or less likely, the agent has changed its mind. Scoring needs WebGPU; without it, skip to the next page.',
      ],
      task: 'Have the conversation scored by nano-retail-grpo.',
      focus: ['scored-by', 'legend'],
      done: (sight) => (at(sight, 'rollout')?.by ?? '') !== '',
    },
    {
      text: ['Single tokens do not show whether the agent got better. For that, the same tasks are played with the weights from before and after, with the same customers and seeds, and compared trial by trial.'],
      task: 'Open the evaluations.',
      focus: ['eval-form', 'evals-table'],
      open: () => href({ name: 'evals' }),
      done: ({ place: { route } }) => route.name === 'evals' || route.name === 'eval',
    },
  ],
  break: [
    {
      text: ['A setup is an address. This one makes the learning rate a hundred times larger and lets go of the reference.'],
      task: 'Open the setup and look at what it changes.',
      focus: ['start', 'changed'],
      open: () => href({ name: 'home' }, { preset: 'tiny', lr: '0.04', use_kl_loss: 'false' }),
      done: (sight) => at(sight, 'home')?.lr !== undefined,
    },
    {
      text: ['Five small steps are enough to see it. Training needs WebGPU; without it, skip to the next page.'],
      task: 'Start training.',
      focus: ['start'],
      done: ({ activeRun }) => activeRun !== null,
    },
    {
      text: [
        'Watch the entropy and the divergence first, then the reward. A policy that falls apart shows in them before it shows in its success.',
        'Compare with the same run at the preset’s rate: the seed is the same, so the customers are.',
      ],
      focus: ['chart-entropy', 'chart-kl', 'chart-reward'],
    },
    {
      text: [
        'Another way to break it needs no large step. The reward looks at the database only, so an agent that acts without asking earns as much as a polite one, and sooner.',
        'Here the scripted customers punish it, because some change their mind. Where none did, not asking would be the better policy.',
      ],
      task: 'List the rollouts that changed data without asking.',
      focus: ['facet-violation'],
      open: () => href({ name: 'rollouts', run: RECORDED }, { violation: 'unconfirmed_write' }),
      done: (sight) => at(sight, 'rollouts')?.violation === 'unconfirmed_write',
    },
  ],
  bigger: [
    {
      text: ['The scripted customer is quick and never surprising. A language model behind an OpenAI-compatible endpoint can play instead: on your machine, or wherever you have a key. The key stays in this tab.'],
      task: 'Open the settings.',
      focus: ['settings-user'],
      open: () => href({ name: 'settings' }),
      done: (sight) => at(sight, 'settings') !== null,
    },
    {
      text: ['The test tells apart what usually goes wrong: no server, an origin that is not allowed, a wrong key, a model that is not there.'],
      task: 'Choose a language model as the customer, or skip.',
      focus: ['settings-user'],
      done: ({ user }) => user === 'endpoint',
    },
    {
      text: ['Any Qwen2 or Qwen3 folder in Hugging Face layout can be the agent, as far as the GPU’s memory goes. Weights come back out in the same layout.'],
      task: 'Open the models.',
      open: () => href({ name: 'models' }),
      done: (sight) => at(sight, 'models') !== null,
    },
    {
      text: [
        'A tab is not where large models are trained. The names of the settings are verl’s, with TRL’s accepted, and runs export their metrics and conversations as JSON lines: take them along.',
        'What you have seen here, which words are trained, what a group says, what a reward misses, is the same there.',
      ],
      open: () => href({ name: 'run', run: RECORDED }, { tab: 'config' }),
    },
  ],
};

export const lesson = (id: LessonId): Lesson => ({ id, pages: PAGES[id] });
