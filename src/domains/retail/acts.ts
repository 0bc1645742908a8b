/** @file What tools of the shop mean: who is found and shown, and which tool hands over to a human. */
import type { AuditRules } from '../../environments/types.ts';

export const TRANSFER = 'transfer_to_human_agents';

export const AUDIT: AuditRules = {
  authenticate: ['find_user_id_by_email', 'find_user_id_by_name_zip'],
  details: ['get_user_details', 'get_order_details'],
  owner: 'user_id',
  thing: 'order_id',
};
