"""Writes calls on the classes of BFCL Multi Turn with the results of the original code, and texts and numbers of Python.

    python bfcl_cases.py BERKELEY-FUNCTION-CALL-LEADERBOARD OUT.json

The first argument is that folder of ShishirPatil/gorilla at commit 6ea5797. Needs Python 3.11 and mpmath 1.3.0. The configs and the
calls are our own.
"""

import importlib
import json
import random
import sys

MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}

FILES = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "a.txt": {"type": "file", "content": "one\ntwo words\n\x0cthree\u2028four"},
                "b.txt": {"type": "file", "content": "one\nother"},
                "docs": {"type": "directory", "contents": {"n": {"type": "file", "content": "é"}}},
                ".hidden": {"type": "file", "content": ""},
            },
        }
    }
}
ACCOUNT = {
    "authenticated": True,
    "market_status": "Open",
    "account_info": {"account_id": 7, "balance": 100.0, "binding_card": 9876543210123456},
    "orders": {"5": {"id": 5, "status": "Open", "symbol": "XYZ"}, "note": "x"},
    "order_counter": 6,
    "stocks": {"XYZ": {"price": 2.5, "percent_change": -0.5}, "ABC": {"price": 10, "percent_change": 3}},
    "watch_list": ["XYZ"],
    "transaction_history": [],
}
TRAVEL = {
    "credit_card_list": {"1": {"balance": 5000.0}},
    "booking_record": {"b1": {"card_id": "1", "travel_cost": 200.0, "travel_date": "2024-01-01"}},
    **dict.fromkeys(["access_token", "token_type", "token_expires_in", "token_scope", "user_first_name", "user_last_name", "budget_limit"]),
}
# The checks of "==" with 1000 and of the sums of tire pressures need floats.
CAR = {
    "fuelLevel": 10.0,
    "batteryVoltage": 12.0,
    "engineState": "stopped",
    "doorStatus": {"driver": "locked", "passenger": "unlocked", "rear_left": "locked", "rear_right": "locked"},
    "acTemperature": 20.0,
    "fanSpeed": 5,
    "acMode": "cool",
    "humidityLevel": 40.0,
    "headLightStatus": "off",
    "parkingBrakeStatus": "released",
    "parkingBrakeForce": 0.0,
    "slopeAngle": 0.0,
    "brakePedalStatus": "released",
    "brakePedalForce": 0.0,
    "distanceToNextVehicle": 10.0,
    "cruiseStatus": "inactive",
    "destination": "None",
    "frontLeftTirePressure": 30.0,
    "frontRightTirePressure": 31.0,
    "rearLeftTirePressure": 32.0,
    "rearRightTirePressure": 33,
}
CASES = [
    ("GorillaFileSystem", FILES, [
        "pwd()", "ls()", "ls(a=True)", "cd('..')", "cd(folder='docs/')", "pwd()", "cd('..')", "find(name='n')", "find('/')",
        "wc('a.txt')", "wc('a.txt','w')", "wc('a.txt','c')", "wc('a.txt','x')", "sort('a.txt')", "grep('a.txt','o')",
        "tail('a.txt',1)", "tail('a.txt',0)", "tail('a.txt',-1)", "diff('a.txt','b.txt')", "du()", "du(True)",
        "mkdir('new')", "mkdir('a/b')", "touch('new')", "echo('text','c')", "touch('c')", "echo(content='text', file_name='c')",
        "cat('c')", "cat('docs')", "cp('docs','copy')", "mv('docs','moved')", "cd('moved')", "echo('changed','n')", "cd('..')",
        "cd('copy')", "cat('n')", "cd('/')", "cp('c','new')", "mv('c','new')", "rmdir('new')", "rm('new')", "rm('new')", "cp('a.txt','x/y')",
    ]),
    ("GorillaFileSystem", {}, ["pwd()", "ls()", "cd('..')", "mkdir('')", "ls()", "find()"]),
    ("MathAPI", {}, [
        "add(1,2)", "add(1,2.0)", "divide(7,2)", "divide(1,0)", "power(2,100)", "power(2,0.5)", "power(2,-1)", "power(0,-1)", "power(-8,0.5)",
        "logarithm(20,10,2)", "logarithm(8,2,30)", "logarithm(0.001,7,5)", "logarithm(-1,10,3)", "logarithm(10,1,5)", "logarithm(3,-2,10)",
        "square_root(2,10)", "square_root(0.1,5)", "square_root(1000000,3)", "square_root(-1,3)", "round_number(2.675,2)",
        "round_number(-2.5)", "round_number(1250,-2)", "mean([1,2,4])", "standard_deviation([2,4,4,4,5,5,7,9])", "sum_values([0.1,0.2,0.3])",
        "max_value([1,1.0])", "min_value(['b','a'])", "percentage(1,3)", "si_unit_conversion(7,'um','mm')",
        "imperial_si_conversion(98.6,'fahrenheit','celsius')", "absolute_value(-5.0)", "absolute_value('x')", "mean('12')", "multiply('a',2)",
    ]),
    ("MessageAPI", {"message_count": 1, "current_user": None, "user_map": {"Ann": "USR001", "Bob": "USR002"}, "user_count": 2, "inbox": [{"USR001": "Hello"}]}, [
        "list_users()", "message_login('USR009')", "send_message('USR001','x')", "message_login('USR002')", "send_message('USR001','Hello')",
        "send_message('USR009','x')", "view_messages_sent()", "search_messages('HELL')", "get_message_stats()", "add_contact('Cy')",
        "add_contact('Ann')", "delete_message('USR001')", "view_messages_sent()", "get_user_id('Cy')", "message_get_login_status()",
    ]),
    ("TwitterAPI", {"tweets": {"0": {"id": 0, "username": "ann", "content": "Hi", "tags": ["#A"], "mentions": []}}, "tweet_counter": 1, "username": "ann", "password": "p", "authenticated": False, "comments": {}, "retweets": {}, "following_list": ["b"]}, [
        "post_tweet('x')", "authenticate_twitter('ann','q')", "authenticate_twitter('ann','p')", "post_tweet('x')", "mention(1,['@b'])",
        "post_tweet('y',['#t'])", "get_tweet(2)", "get_tweet(1.0)", "retweet(0)", "retweet(0)", "comment(0,'it\\'s')", "get_tweet_comments(0)",
        "get_tweet_comments(1)", "follow_user('c')", "follow_user('c')", "list_all_following()", "unfollow_user('c')", "get_user_tweets('ann')",
        "search_tweets('#a')", "get_user_stats('ann')", "get_tweet(9)",
    ]),
    ("TicketAPI", {"ticket_queue": [{"id": 3, "title": "t", "status": "Open", "created_by": "ann"}], "ticket_counter": 4, "current_user": None}, [
        "create_ticket('x')", "ticket_login('ann','p')", "create_ticket('x', priority=9)", "create_ticket('x','d',2.0)", "get_ticket(3)",
        "resolve_ticket(3,'done')", "resolve_ticket(3,'done')", "close_ticket(4)", "close_ticket(4)", "edit_ticket(3,{'title':'z','status':None})",
        "edit_ticket(3,{'owner':'b'})", "get_user_tickets()", "get_user_tickets('closed')", "logout()", "logout()", "get_user_tickets()",
    ]),
    ("TradingBot", ACCOUNT, [
        "get_current_time()", "get_stock_info('XYZ')", "get_stock_info('Q')", "get_order_details(5)", "get_order_details(9)",
        "get_order_details('note')", "place_order('Buy','XYZ',2,10)", "place_order('buy','XYZ',200.5,10)", "place_order('Sell','XYZ',-1,1)",
        "cancel_order(6)", "fund_account(50)", "fund_account(50.5)", "withdraw_funds(1000)", "withdraw_funds(10)", "get_account_info()",
        "get_transaction_history()", "get_transaction_history('2024-9-1','2024-09-02')", "get_watchlist()", "add_to_watchlist('ABC')",
        "add_to_watchlist('NO')", "remove_stock_from_watchlist('XYZ')", "filter_stocks_by_price(['XYZ','ABC','Q'],1,5)",
        "notify_price_change(['XYZ','ABC'],1)", "get_order_history()", "trading_logout()", "get_watchlist()", "trading_login('a','b')",
    ]),
    ("TravelAPI", TRAVEL, [
        "travel_get_login_status()", "get_credit_card_balance(None,'1')", "register_credit_card(None,'n','e','h',1)",
        "authenticate_travel('c','s','r','rw','Ann','Lee')", "get_credit_card_balance('x','1')", "set_budget_limit('x',5)",
        "verify_traveler_information('Ann','Lee','1990-1-2','US1')", "verify_traveler_information('Bob','Lee','1990-1-2','US1')",
        "verify_traveler_information('Ann','Lee','1990-02-30','US1')", "compute_exchange_rate('USD','EUR',10)",
        "compute_exchange_rate('EUR','USD',1)", "compute_exchange_rate('EUR','GBP',1)", "contact_customer_support('b1','m')",
        "get_all_credit_cards()", "get_budget_fiscal_year()",
    ]),
    ("VehicleControlAPI", CAR, [
        "startEngine('START')", "lockDoors(False,['passenger'])", "lockDoors(unlock=False, door=['rear'])", "startEngine('START')",
        "pressBrakePedal(1)", "startEngine('START')", "displayCarStatus('doors')", "displayCarStatus('x')", "fillFuelTank(45)", "fillFuelTank(5)",
        "setCruiseControl(65,True,100)", "setCruiseControl(62,True,50)", "adjustClimateControl(68,'fahrenheit',10,'cool')",
        "get_current_speed()", "get_outside_temperature_from_google()", "set_navigation(5)", "set_navigation('x')", "check_tire_pressure()",
        "activateParkingBrake('engage')", "setHeadlights('auto')", "liter_to_gallon(10)", "estimate_drive_feasibility_by_mileage(400)",
        "startEngine('STOP')", "releaseBrakePedal()", "display_log(['a',1.0])",
    ]),
]


def portable(value):
    kind = type(value).__name__
    if kind == "Directory":
        return {"__dir__": value.name, "contents": portable(value.contents)}
    if kind == "File":
        return {"__file__": value.name, "content": value.content}
    if isinstance(value, dict):
        return {k if isinstance(k, str) else f"<{type(k).__name__}>{k}": portable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [portable(item) for item in value]
    if isinstance(value, set):
        return {"__set__": sorted(value)}
    return value


def text_of(value):
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except Exception:
            return str(value)
    return str(value)


def run(class_name, config, calls):
    module = importlib.import_module(f"bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{MODULES[class_name]}")
    own = getattr(module, class_name)()
    if class_name != "MathAPI":
        own._load_scenario(json.loads(json.dumps(config)), long_context=False)
    results = []
    for call in calls:
        try:
            results.append(text_of(eval(f"own.{call}")))
        except Exception as error:
            results.append(f"Error during execution: {error}")
    state = {name: portable(value) for name, value in vars(own).items() if not name.startswith("_")}
    return {"class": class_name, "config": json.dumps(config), "calls": calls, "results": results, "state": state}


FLOATS = [0.0, -0.0, 1.0, 0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 1.5e-7, 5e-324, 1.7976931348623157e308, 2.5, 100.0, 1e22, 1 / 3]
TEXTS = ["a", "it's", '"', "it's \"both\"", "\n\t\\\x00\x7f\x85\xa0\u200b\u2028", "é日😀", "\ud800"]
RANDOM = [200191, 141053, 1053520, 0, 2**40 + 3]


def python():
    streams = []
    for seed in RANDOM:
        own = random.Random(seed)
        streams.append([seed, own.getrandbits(32), own.getrandbits(40), own.random(), own.randint(10000, 99999), own.uniform(-10.0, 40.0), own.randint(5, 5)])
    return {
        "floats": [[repr(x), json.dumps(x)] for x in FLOATS],
        "texts": [[json.dumps(x), repr(x)] for x in TEXTS],
        "random": streams,
        "rounded": [[x, n, repr(round(x, n))] for x in [2.675, 0.125, -0.125, 1e20, 1234.5678, 0.05] for n in [0, 1, 2, -2, 20]],
        "fixed": [[x, f"{x:.2f}"] for x in [2.675, 0.125, 1e20, 1023.995, -0.001, 5]],
    }


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"python": python(), "cases": [run(*case) for case in CASES]}, file, indent=1)
        file.write("\n")
