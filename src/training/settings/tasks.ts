/** @file The settings for which tasks a run trains on, and for the rules of their conversations. */
import { z } from 'zod';
import { GENERATED, LEVELS_IN_WORDS, WITH_ATTACKS, WITH_INTENTS, WITH_UNSEEN } from '../../domains/registry.ts';
import { SPLITS } from '../../records/task.ts';
import { seed, settingGroup } from './setting.ts';

export const tasks = settingGroup({
  id: 'tasks',
  title: 'Tasks and rules',
  settings: {
    domain: {
      schema: z.string(),
      default: 'retail',
      label: 'Domain',
      help: `The source of database, tools and tasks: ${GENERATED.map(({ name }) => name).join(', ')}, or an import such as tau2-retail.`,
    },
    level: {
      schema: z.string(),
      default: 'full',
      label: 'Level',
      help: `The size of a generated domain: ${LEVELS_IN_WORDS}. Each bundled model was prepared for one level.`,
    },
    train_split: {
      schema: z.enum(['train', 'heldout']),
      default: 'heldout',
      label: 'Tasks to train on',
      help: 'train: tasks that evaluation never plays. heldout: the tasks that evaluation plays, as in the paper’s code.',
      choice: {
        topic: 'tasks to train on',
        upstream: 'the tasks of the evaluation',
        ours: 'training tasks, which the evaluation never plays',
      },
    },
    intents: {
      schema: z.string().max(200),
      default: '',
      label: 'Intents in training',
      help: `What customers in training can want, such as cancel,modify_payment. Empty: everything that the level has. Only for ${WITH_INTENTS.join(', ')}.`,
    },
    val_intents: {
      schema: z.string().max(200),
      default: '',
      label: 'Intents in evaluation',
      help: 'The same for the evaluation, for example intents that training left out.',
    },
    val_split: {
      schema: z.enum(SPLITS),
      default: 'heldout',
      label: 'Tasks of the evaluation',
      help: `heldout: other worlds. unseen (only ${WITH_UNSEEN.join(', ')}): also other names, products and words of customers. attacks (only ${WITH_ATTACKS.join(', ')}, levels small and full): customers who want what must be refused. train: training tasks.`,
    },
    val_domains: {
      schema: z.string().max(200),
      default: '',
      label: 'Domains of the evaluation',
      help: 'Domains whose tasks the evaluation plays, so many of each, such as rooms,library. Charts show the first. Empty: the domain of the training.',
    },
    filter_noop_tasks: {
      schema: z.boolean(),
      default: false,
      label: 'Replace no-op tasks',
      help: 'If true, other tasks replace no-op tasks, which give reward 1 to an agent that does nothing.',
      choice: {
        topic: 'no-op tasks',
        upstream: 'trained on: 31 of 165 tasks give reward 1 for doing nothing',
        ours: 'trained on, because generated no-op tasks teach the agent to refuse; true replaces them by other tasks',
      },
    },
    check_outputs: {
      schema: z.boolean(),
      default: false,
      label: 'Require facts to be told',
      help: 'Some benchmark tasks name facts that the agent must tell the customer. If true, the reward in training requires these facts. Evaluation always does.',
      choice: {
        topic: 'facts to tell the customer',
        upstream: 'not checked in training, checked in evaluation',
        ours: 'checked in both',
      },
    },
    answer: {
      schema: z.string().max(300),
      default: '',
      label: 'Simulated tools',
      help: 'Who answers the tools of a scenario in training. Empty: its own tools. code: the same, behind the checks of simulated tools. noisy@RATE: with contradictions in this share of the answers. Evaluations always have the own tools. Only for scenarios without an MCP server.',
    },
    'answer.unchecked': {
      schema: z.boolean(),
      default: false,
      label: 'Let noise pass',
      help: 'Only with noisy@RATE. false: wrong answers are asked again, and a conversation without a right answer is dropped. true: wrong answers reach the conversation.',
    },
    'answer.seed': {
      schema: seed,
      default: 1,
      label: 'Seed of the noise',
      help: 'Only with noisy@RATE. The same seed, rows and call give the same answer.',
    },
    conversation_rules: {
      schema: z.enum(['domain', 'mua_rl']),
      default: 'mua_rl',
      label: 'Conversation rules',
      help: 'domain: the rules of the domain’s benchmark. mua_rl: the rules of MUA-RL in every domain.',
      choice: {
        topic: 'rules of conversation',
        upstream: 'MUA-RL’s own rules, on tau-bench’s tasks',
        ours: 'the rules of the domain’s benchmark',
      },
    },
    malformed_policy: {
      schema: z.enum(['end', 'feedback', 'as_text']),
      default: 'end',
      label: 'Malformed tool call',
      help: 'end: the conversation ends. feedback: the agent receives the error. as_text: the customer receives the text of the call.',
      choice: {
        topic: 'malformed tool call',
        upstream: 'ends the episode, which can still get reward 1',
        ours: 'the agent is told the error; this costs a turn',
      },
    },
    enable_thinking: {
      schema: z.boolean(),
      default: false,
      sft: false,
      label: 'Thinking',
      help: 'Qwen3’s enable_thinking. If true, the model writes thoughts before each turn. The customer does not hear them, and they stay in the context. MUA-RL trains without thoughts.',
      verl: '+data.apply_chat_template_kwargs.enable_thinking',
    },
    require_done: {
      schema: z.boolean(),
      default: false,
      label: 'Require a proper end',
      help: 'If true, the reward is 0 unless the customer or a terminal tool ends the conversation.',
      choice: {
        topic: 'episodes that reach a limit',
        upstream: 'scored like any other',
        ours: 'reward 0: the user or a terminal tool must end the episode',
      },
    },
  },
  choices: [
    { topic: 'mixture of domains', upstream: '115 retail and 50 airline tasks in one training set', ours: 'one domain per run' },
    {
      topic: 'end of an epoch',
      upstream: 'the last 5 of 165 tasks are dropped, as they do not fill a batch',
      ours: 'no task is dropped: a batch can span two epochs',
    },
    {
      topic: 'several tool calls in one message',
      upstream: 'all but the first are dropped and removed from the text',
      ours: 'sampling stops after the first call, so that nothing must be dropped',
    },
    {
      topic: 'history',
      upstream: 'messages are rendered and tokenized again from text',
      ours: 'sampled tokens are kept; training and evaluation use one template',
    },
    { topic: 'stop message', upstream: 'in the context, not trained on', ours: 'the same' },
  ],
});
