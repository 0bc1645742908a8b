/** @file An agent whose model is behind a server or in the tab, and what its answers use. */
import type { EndpointConfig, LocalConfig } from './user.ts';

/**
 * How the agent's tools and calls are written. `native`: in the fields `tools` and `tool_calls` of OpenAI's interface. `text`: in the
 * texts of the messages, as our own models write them.
 */
export const AGENT_FORMATS = ['native', 'text'] as const;
export type AgentFormat = (typeof AGENT_FORMATS)[number];

/** The model behind an OpenAI-compatible server that plays the agent. The evaluation has its temperature. */
export interface AgentServer extends Omit<EndpointConfig, 'judgeModel' | 'judgeCustomer' | 'temperature'> {
  /** Default: `native`. */
  format?: AgentFormat;
}

/** The model of transformers.js in this tab that plays the agent. The evaluation has its temperature. */
export interface TabAgent extends Omit<LocalConfig, 'temperature'> {
  /** `native`: the model's chat template writes the tools, and the calls are read in the form of the model. Default: `native`. */
  format?: AgentFormat;
  /** Whether the chat template asks the model to think before it answers. Default: false. */
  thinks?: boolean;
}

/** The requests to the agent's model, retries included. Tokens and cost are sums over the answers that report them. */
export interface AgentUsage {
  calls: number;
  retries: number;
  /** The number of answers that report no tokens. */
  unreported: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** The sum of the seconds until the answers came. Requests run at the same time, so the evaluation takes fewer. */
  seconds: number;
  /** In the unit of the prices. Absent without prices. */
  cost?: number;
}
