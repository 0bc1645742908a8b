/** @file `TradingBot`: stocks, orders and an account. */
import { fixed, float, int } from '../../../python/conversions.ts';
import {
  abs,
  add,
  atMost,
  contains,
  dictFor,
  itemOf,
  iterate,
  less,
  listFor,
  multiply,
  removeFirst,
  setItem,
  subtract,
  textFor,
} from '../../../python/operations.ts';
import { PyRandom } from '../../../python/random.ts';
import { isDigits, lower, parseTime } from '../../../python/strings.ts';
import { repr, str } from '../../../python/text.ts';
import { Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { fillerOf } from '../tables.ts';
import { type ApiClass, attributesFrom, error, f, seedOf } from './api.ts';

/** 2024-09-01 10:30:00 UTC, in seconds. */
const NOW = 1725186600n;
const DAY = 86400n;
const LOGIN = 'User not authenticated. Please log in to';

export const tradingBot: ApiClass = {
  signatures: {
    get_current_time: '',
    get_symbol_by_name: 'name',
    get_stock_info: 'symbol',
    get_order_details: 'order_id',
    cancel_order: 'order_id',
    place_order: 'order_type, symbol, price, amount',
    withdraw_funds: 'amount',
    get_account_info: '',
    trading_login: 'username, password',
    trading_get_login_status: '',
    trading_logout: '',
    fund_account: 'amount',
    remove_stock_from_watchlist: 'symbol',
    get_watchlist: '',
    get_order_history: '',
    get_transaction_history: 'start_date=None, end_date=None',
    get_available_stocks: 'sector',
    filter_stocks_by_price: 'stocks, min_price, max_price',
    add_to_watchlist: 'stock',
    notify_price_change: 'stocks, threshold',
  },
  create(context) {
    const { tables, longContext } = context;
    const random = new PyRandom(seedOf(context, 'TradingBot', 1053520n));
    const own = attributesFrom(context, 'TradingBot', [
      'orders',
      'account_info',
      'authenticated',
      'market_status',
      'order_counter',
      'stocks',
      'watch_list',
      'transaction_history',
    ]);
    const orders = new Dict(
      dictFor('items', own.orders!)
        .entries()
        .map(([id, order]) => [typeof id === 'string' && isDigits(id) ? int(id) : id, order]),
    );
    own.orders = orders;
    own.long_context = longContext;
    const stocks = () => dictFor('get', own.stocks!);
    const watched = () => listFor('append', own.watch_list!);

    function book(type: string, amount: Value, balance: Value): Value {
      setItem(own.account_info!, 'balance', balance);
      const time = new Date(Number(random.randint(NOW, NOW + DAY)) * 1000).toISOString();
      const timestamp = `${time.slice(0, 10)} ${time.slice(11, 19)}`;
      listFor('append', own.transaction_history!).push(dict({ type, amount, timestamp }));
      return balance;
    }

    /** The methods of a logged-in user. */
    const privately =
      (act: string, work: (...args: Value[]) => Value, refused = (text: string): Value => error(text)) =>
      (...args: Value[]) =>
        truth(own.authenticated!) ? work(...args) : refused(`${LOGIN} ${act}.`);

    function placeOrder(type: Value, symbol: Value, price: Value, amount: Value): Value {
      if (!stocks().has(symbol)) return error(f`Invalid stock symbol: ${symbol}`);
      if (atMost(price, 0n) || atMost(amount, 0n)) return error('Price and amount must be positive values.');
      if (lower(type) === 'buy') {
        const cost = multiply(float(price), int(amount));
        const balance = dictFor('get', own.account_info!).get('balance') ?? 0n;
        if (less(balance, cost, '>'))
          return error(`Insufficient funds: required $${fixed(cost, 2)} but only $${fixed(balance, 2)} available.`);
      }
      const id = own.order_counter!;
      const order = { order_type: type, symbol, price: float(price), amount };
      orders.set(id, dict({ id, ...order, status: 'Open' }));
      own.order_counter = add(id, 1n);
      return dict({ order_id: id, order_type: type, status: 'Pending', price: order.price, amount });
    }

    function orderDetails(id: Value): Value {
      const order = orders.get(id);
      if (order === undefined) return error(f`Order with ID ${id} not found.` + `Here is the list of orders_id: ${repr(orders.keys())}`);
      if (!longContext) return order;
      const copy = dictFor('copy', order).copy();
      const symbol = str(itemOf(copy, 'symbol'));
      const metadata = (fillerOf(tables, 'ORDER_DETAIL_EXTENSION') as Dict)
        .entries()
        .map(([key, text]) => [key, (text as string).replaceAll('{symbol}', symbol)] as const);
      return copy.set('metadata', new Dict(metadata));
    }

    function history(from: Value, to: Value): Value {
      const start = truth(from) ? parseTime(from, '%Y-%m-%d') : -Infinity;
      const end = truth(to) ? parseTime(to, '%Y-%m-%d') : Infinity;
      const found = iterate(own.transaction_history!).filter((transaction) => {
        const time = parseTime(itemOf(transaction, 'timestamp'), '%Y-%m-%d %H:%M:%S');
        return start <= time && time <= end;
      });
      if (longContext) found.push(...(fillerOf(tables, 'TRANSACTION_HISTORY_EXTENSION') as Value[]));
      return dict({ transaction_history: found });
    }

    return {
      attributes: own,
      methods: {
        get_current_time: () => dict({ current_time: '10:30 AM' }),
        get_symbol_by_name: (name) => dict({ symbol: tables.symbols.get(name!) ?? 'Stock not found' }),
        get_stock_info(symbol) {
          const stock = stocks().get(symbol!);
          if (stock === undefined) return error(f`Stock with symbol '${symbol!}' not found.`);
          if (!longContext) return stock;
          const copy = dictFor('copy', stock).copy();
          return copy.set('MA(5)', fillerOf(tables, 'MA_5_EXTENSION')).set('MA(20)', fillerOf(tables, 'MA_20_EXTENSION'));
        },
        get_order_details: (id) => orderDetails(id!),
        cancel_order(id) {
          const order = orders.get(id!);
          if (order === undefined) return error(f`Order with ID ${id!} not found.`);
          if (equal(itemOf(order, 'status'), 'Completed')) return error(f`Can't cancel order ${id!}. Order is already completed.`);
          setItem(order, 'status', 'Cancelled');
          return dict({ order_id: id!, status: 'Cancelled' });
        },
        place_order: privately('place an order', (type, symbol, price, amount) => placeOrder(type!, symbol!, price!, amount!)),
        withdraw_funds: privately('make a transaction', (amount) => {
          if (!equal(own.market_status!, 'Open')) return error('Market is closed. Transactions are not allowed.');
          if (atMost(amount!, 0n)) return error('Transaction amount must be positive.');
          const balance = itemOf(own.account_info!, 'balance');
          if (less(balance, amount!, '>')) return error('Insufficient funds for withdrawal.');
          return dict({ status: 'Withdrawal successful', new_balance: book('withdrawal', amount!, subtract(balance, amount!)) });
        }),
        get_account_info: privately('view account information', () => own.account_info!),
        trading_login() {
          if (truth(own.authenticated!)) return dict({ status: 'Already logged in' });
          own.authenticated = true;
          return dict({ status: 'Logged in successfully' });
        },
        trading_get_login_status: () => dict({ status: truth(own.authenticated!) }),
        trading_logout() {
          if (!truth(own.authenticated!)) return dict({ status: 'No user is currently logged in' });
          own.authenticated = false;
          return dict({ status: 'Logged out successfully' });
        },
        fund_account: privately('fund the account', (amount) => {
          if (atMost(amount!, 0n)) return error('Funding amount must be positive.');
          const balance = add(itemOf(own.account_info!, 'balance'), amount!);
          return dict({ status: 'Account funded successfully', new_balance: book('deposit', amount!, balance) });
        }),
        remove_stock_from_watchlist: privately('modify the watchlist', (symbol) =>
          removeFirst(watched(), symbol!)
            ? dict({ status: f`Stock ${symbol!} removed from watchlist successfully.` })
            : error(f`Stock ${symbol!} not found in watchlist.`),
        ),
        get_watchlist: privately(
          'view the watchlist',
          () =>
            longContext ? [...watched(), ...(fillerOf(tables, 'WATCH_LIST_EXTENSION') as Value[])] : dict({ watchlist: own.watch_list! }),
          (text) => [`Error: ${text}`],
        ),
        get_order_history: privately(
          'view order history',
          () => dict({ history: orders.keys() }),
          (text) => [error(text)],
        ),
        get_transaction_history: privately(
          'view transaction history',
          (from, to) => history(from!, to!),
          (text) => [error(text)],
        ),
        get_available_stocks(sector) {
          const listed = tables.sectors.get(sector!) as Value[] | undefined;
          if (!listed) return dict({ stock_list: [] });
          return dict({
            stock_list: longContext ? [...listed, ...(fillerOf(tables, `${str(sector!).toUpperCase()}_EXTENSION`) as Value[])] : listed,
          });
        },
        filter_stocks_by_price(symbols, least, most) {
          const price = (symbol: Value) => {
            const stock = stocks().get(symbol);
            return stock === undefined ? 0n : (dictFor('get', stock).get('price') ?? 0n);
          };
          const inside = (symbol: Value) => atMost(least!, price(symbol), '>=') && atMost(price(symbol), most!);
          return dict({ filtered_stocks: iterate(symbols!).filter(inside) });
        },
        add_to_watchlist(stock) {
          if (!contains(own.watch_list!, stock!) && stocks().has(stock!)) watched().push(stock!);
          return dict({ watchlist: own.watch_list! });
        },
        notify_price_change(symbols, threshold) {
          const changed = iterate(symbols!).filter((symbol) => {
            const stock = stocks().get(symbol);
            return stock !== undefined && atMost(threshold!, abs(itemOf(stock, 'percent_change')), '>=');
          });
          const notification = changed.length
            ? `Stocks ${changed.map((symbol) => textFor('join', symbol)).join(', ')} have significant price changes.`
            : 'No significant price changes in the selected stocks.';
          return dict({ notification });
        },
      },
    };
  },
};
