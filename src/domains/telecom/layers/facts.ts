/** @file What the provider's tools showed, as far as the rules of the policy need it. Later results replace earlier ones. */
import { didNothing, recordsIn, resultOf, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import type { Json } from '../../../records/json.ts';

const FINDS = ['get_customer_by_phone', 'get_customer_by_id', 'get_customer_by_name'];

export interface ShownLine {
  status?: string;
  /** Null: the contract has no end. */
  ends?: string | null;
  number?: string;
}

const list = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(textOf) : []);

export class ProviderFacts {
  customer: string | null = null;
  readonly lines = new Map<string, ShownLine>();
  readonly bills = new Map<string, { status: string }>();
  /** The customer of each line and bill that a customer's record names. */
  readonly owners = new Map<string, string>();

  learn(event: ToolEvent): void {
    if (didNothing(event)) return;
    const { name, arguments: args } = event.call;
    for (const record of recordsIn(resultOf(event))) {
      const customer = textOf(record.customer_id);
      if (customer !== '' && record.line_ids !== undefined) {
        // A conversation has one customer: the first one that was found.
        if (FINDS.includes(name)) this.customer ??= customer;
        for (const id of [...list(record.line_ids), ...list(record.bill_ids)]) this.owners.set(id, customer);
      }
      const line = textOf(record.line_id);
      if (line !== '' && typeof record.status === 'string')
        this.lines.set(line, {
          status: record.status,
          number: textOf(record.phone_number) || undefined,
          ...('contract_end_date' in record && { ends: textOf(record.contract_end_date) || null }),
        });
      const bill = textOf(record.bill_id);
      if (bill !== '' && typeof record.status === 'string') {
        this.bills.set(bill, { status: record.status });
        if (customer !== '') this.owners.set(bill, customer);
      }
    }
    if (name === 'send_payment_request' && !event.result.error) this.bills.set(textOf(args.bill_id), { status: 'Awaiting Payment' });
  }

  /** The customer whose data a call reads or changes. Null: nothing says it. */
  ownerOf({ call: { name, arguments: args } }: ToolEvent): string | null {
    const id = textOf(args.id);
    for (const thing of [textOf(args.line_id), textOf(args.bill_id), id]) if (this.owners.has(thing)) return this.owners.get(thing)!;
    if (name === 'get_details_by_id') return id.startsWith('C') ? id : null;
    return textOf(args.customer_id) || null;
  }

  /** The customer whose record a result is. */
  shows(value: Json): string | null {
    for (const record of recordsIn(value)) if (typeof record.customer_id === 'string') return record.customer_id;
    return null;
  }

  billsOf(customer: string): { id: string; status: string }[] {
    return [...this.bills].flatMap(([id, { status }]) => (this.owners.get(id) === customer ? [{ id, status }] : []));
  }
}

export const isLookup = (tool: string): boolean => FINDS.includes(tool);
