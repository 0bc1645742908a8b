/** @file The meaning of the shop's tools for the audit: which tools find a customer or show data, and which tool transfers to a human. */
import type { AuditRules } from '../../environments/types.ts';

export const TRANSFER = 'transfer_to_human_agents';

export const AUDIT: AuditRules = {
  authenticate: ['find_user_id_by_email', 'find_user_id_by_name_zip'],
  details: ['get_user_details', 'get_order_details'],
  owner: 'user_id',
  thing: 'order_id',
};
