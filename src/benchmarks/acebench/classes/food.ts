/** @file `FoodPlatform`: orders of food. */
import {
  add,
  attributeError,
  contains,
  dictFor,
  itemOf,
  iterate,
  less,
  listFor,
  multiply,
  setItem,
  subtract,
} from '../../../python/operations.ts';
import { type Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, f, hasWord, isOff, status } from './api.ts';

export const foodPlatform: ApiClass = {
  attributes: ['users', 'merchant_list', 'logged_in_users', 'orders'],
  saved: ['users', 'logged_in_users', 'orders'],
  phone: true,
  signatures: {
    login_food_platform: 'username, password',
    view_logged_in_users: '',
    check_balance: 'user_name',
    add_food_delivery_order: 'username, merchant_name, items',
    get_products: 'merchant_name',
    view_orders: 'user_name',
    search_orders: 'keyword',
  },
  create({ language, own, text }) {
    const orders = () => listFor('append', own.orders!);
    const noMerchant = () => status(false, text('Merchant does not exist', '商家不存在'));

    /** Whether an order has an item with the word. Upstream's code in Chinese takes the items for texts. */
    function hasItem(order: Value, keyword: Value): boolean {
      const items = iterate(itemOf(order, 'items'));
      if (language === 'zh' && items.length > 0) throw attributeError(items[0]!, 'lower');
      return items.some((item) => hasWord(itemOf(item, 'product'), keyword));
    }

    /** The items of an order with their prices, or the result that refuses an item. */
    function priced(merchant: Value, items: Value): { lines: Dict[]; total: Value } | { refused: Dict } {
      const lines: Dict[] = [];
      let total: Value = 0;
      for (const item of iterate(items)) {
        const wanted = dictFor('get', item);
        const product = wanted.get('product') ?? null;
        const quantity = wanted.has('quantity') ? wanted.get('quantity')! : 1n;
        const isInt = typeof quantity === 'bigint' || typeof quantity === 'boolean';
        if (!isInt || !less(0n, quantity))
          return {
            refused: status(
              false,
              text(f`Invalid quantity ${quantity} for product ${product}`, f`无效的数量 ${quantity} 对于商品 ${product}`),
            ),
          };
        const found = iterate(itemOf(itemOf(own.merchant_list!, merchant), 'menu')).find((one) => equal(itemOf(one, 'product'), product));
        if (found === undefined)
          return {
            refused: status(
              false,
              text(f`Product ${product} does not exist in ${merchant}'s menu`, f`商品 ${product} 不存在于 ${merchant} 的菜单中`),
            ),
          };
        total = add(total, multiply(itemOf(found, 'price'), quantity));
        lines.push(dict({ product, quantity, price_per_unit: itemOf(found, 'price') }));
      }
      return { lines, total };
    }

    return {
      login_food_platform(name, password) {
        if (isOff(own.wifi!)) return status(false, text('Wi-Fi is not enabled, unable to login', 'wifi未打开，无法登录'));
        if (!contains(own.users!, name!)) return status(false, text('User does not exist', '用户不存在'));
        if (!equal(itemOf(itemOf(own.users!, name!), 'password'), password!)) return status(false, text('Incorrect password', '密码错误'));
        if (contains(own.logged_in_users!, name!)) return status(false, text(f`${name!} is already logged in`, f`${name!} 已经登录`));
        listFor('append', own.logged_in_users!).push(name!);
        return status(true, text(f`User ${name!} has successfully logged in!`, f`用户${name!}登陆成功！`));
      },
      view_logged_in_users() {
        if (!truth(own.logged_in_users!))
          return status(false, text('No users are currently logged in to the food platform', '当前没有登录food platform'));
        return dict({ status: true, logged_in_users: own.logged_in_users! });
      },
      check_balance: (name) => (contains(own.users!, name!) ? itemOf(itemOf(own.users!, name!), 'balance') : 0),
      add_food_delivery_order(name, merchant, items) {
        if (!contains(own.logged_in_users!, name!))
          return status(false, text(f`User ${name!} is not logged in to the food platform`, f`用户 ${name!} 未登录food platform`));
        if (!contains(own.merchant_list!, merchant!)) return noMerchant();
        const order = priced(merchant!, items!);
        if ('refused' in order) return order.refused;
        const { lines, total } = order;
        const user = itemOf(own.users!, name!);
        const balance = itemOf(user, 'balance');
        // In Chinese, an order that costs exactly the balance is refused too.
        if (less(balance, total) || (language === 'zh' && equal(balance, total)))
          return status(false, text('Insufficient balance to place the order', '余额不足，无法下单'));
        setItem(user, 'balance', subtract(balance, total));
        orders().push(dict({ user_name: name!, merchant_name: merchant!, items: lines, total_price: total }));
        return status(
          true,
          text(
            f`Food delivery order successfully placed with ${merchant!}. Total amount: ${total} yuan`,
            f`外卖订单成功下单给 ${merchant!}，总金额为 ${total} 元`,
          ),
        );
      },
      get_products(merchant) {
        const found = dictFor('get', own.merchant_list!).get(merchant!) ?? null;
        if (truth(found)) return itemOf(found, 'menu');
        return status(false, text(f`Merchant '${merchant!}' does not exist`, f`商家 '${merchant!}' 不存在`));
      },
      view_orders(name) {
        const found = orders().filter((order) => equal(itemOf(order, 'user_name'), name!));
        if (found.length === 0) return status(false, text('User has no order records', '用户没有订单记录'));
        return dict({ status: true, orders: found });
      },
      search_orders(keyword) {
        const found = orders().filter((order) => hasWord(itemOf(order, 'merchant_name'), keyword!) || hasItem(order, keyword!));
        if (found.length === 0) return status(false, text('No matching orders found', '没有找到匹配的订单'));
        return dict({ status: true, orders: found });
      },
    };
  },
};
