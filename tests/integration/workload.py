"""Random changes of the sample shop: every kind of change that a document can come from.

A transaction is a list of statements.  Foreign keys are not checked, so that rows may also point at
nothing; that makes null and missing relations part of the work.
"""
import datetime

STATUS = ["new", "paid", "packed", "shipped", "delivered", "returned"]
WORDS = ["tea", "größe", "it's", 'quo"ted', "back\\slash", "tab\tin", "line\nbreak", "日本", "🎁", "%", "{}", "null"]


def text(value):
    if value is None:
        return "NULL"
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n").replace("\t", "\\t")
    return f"'{escaped}'"


class Workload:
    """Transactions for a shop of so many customers, products and orders."""

    def __init__(self, rng, customers=40, products=30, orders=200):
        self.rng = rng
        self.customers, self.products, self.orders = customers, products, orders
        self.next_order, self.next_item = 1_000_000, 5_000_000
        self.kinds = [(getattr(self, name), weight) for name, weight in (
            ("new_order", 12), ("change_order", 20), ("change_item", 15), ("move_item", 8), ("delete_item", 8),
            ("delete_order", 6), ("delete_order_only", 2), ("reinsert_order", 4), ("change_customer", 4),
            ("change_product", 3), ("delete_customer", 1), ("reinsert_customer", 2), ("change_order_key", 4),
            ("swap_order_keys", 2), ("change_item_key", 3), ("many_orders", 4), ("many_items", 3), ("replace_item", 4),
            ("upsert_order", 4), ("come_and_go", 3), ("hot_row", 2), ("rolled_back_part", 2), ("nothing", 1))]

    def transaction(self):
        rng = self.rng
        kinds, weights = zip(*self.kinds)
        statements = []
        for kind in rng.choices(kinds, weights, k=rng.choice([1, 1, 1, 2, 3, 8])):
            statements += kind()
        return statements

    def run(self, connection, transactions, commit_share=0.95):
        """Executes so many transactions; a few are rolled back."""
        with connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0")
            cursor.execute("SET time_zone = '+00:00'")
            for _ in range(transactions):
                cursor.execute("BEGIN")
                for statement in self.transaction():
                    cursor.execute(statement)
                cursor.execute("COMMIT" if self.rng.random() < commit_share else "ROLLBACK")

    # -- pieces

    def order(self):
        """Half of the picks are of recent orders, so that rows are changed again soon."""
        if self.rng.random() < 0.5 and self.next_order > 1_000_000:
            return self.rng.randrange(max(1_000_000, self.next_order - 50), self.next_order)
        return self.rng.randrange(1, self.orders + 1)

    def item(self):
        if self.rng.random() < 0.5 and self.next_item > 5_000_000:
            return self.rng.randrange(max(5_000_000, self.next_item - 100), self.next_item)
        return self.rng.randrange(1, self.orders * 3)

    def customer(self):
        return self.rng.randrange(1, self.customers + 3)  # two that are not there

    def product(self):
        return self.rng.randrange(1, self.products + 3)

    def words(self):
        return " ".join(self.rng.choices(WORDS, k=self.rng.randrange(1, 6)))

    def money(self):
        return f"{self.rng.randrange(0, 10_000_000) / 100:.2f}"

    def moment(self, digits=0):
        at = datetime.datetime(2024, 1, 1) + datetime.timedelta(milliseconds=self.rng.randrange(10**11))
        return "'" + at.isoformat(sep=" ", timespec="milliseconds" if digits else "seconds") + "'"

    def order_row(self, key):
        note = text(self.rng.choice([None, "", self.words()]))
        shipped = self.rng.choice(["NULL", self.moment(3)])
        return (f"({key}, {self.customer()}, '{self.rng.choice(STATUS)}', {text(self.words())}, {self.money()}, "
                f"{self.moment()}, {shipped}, {note})")

    def item_row(self, key, order):
        return (f"({key}, {order}, {self.product()}, {self.rng.randrange(-3, 100)}, {self.money()}, "
                f"{self.rng.randrange(2)})")

    def new_items(self, order, count):
        rows = []
        for _ in range(count):
            rows.append(self.item_row(self.next_item, order))
            self.next_item += 1
        return [f"INSERT INTO order_item VALUES {', '.join(rows)}"] if rows else []

    # -- kinds of change

    def new_order(self):
        key = self.next_order
        self.next_order += 1
        head = f"INSERT INTO orders VALUES {self.order_row(key)}"
        items = self.new_items(key, self.rng.randrange(0, 6))
        return items + [head] if self.rng.random() < 0.3 else [head] + items

    def change_order(self):
        change = self.rng.choice([
            f"status = '{self.rng.choice(STATUS)}'", f"title = {text(self.words())}", f"total = {self.money()}",
            "note = NULL", f"note = {text(self.words())}", f"shipped_at = {self.moment(3)}",
            f"customer_id = {self.customer()}"])
        return [f"UPDATE orders SET {change} WHERE id = {self.order()}"]

    def change_item(self):
        change = self.rng.choice([f"qty = {self.rng.randrange(100)}", f"price = {self.money()}", "gift = 1 - gift",
                                  f"product_id = {self.product()}"])
        return [f"UPDATE order_item SET {change} WHERE id = {self.item()}"]

    def move_item(self):
        return [f"UPDATE order_item SET order_id = {self.order()} WHERE id = {self.item()}"]

    def delete_item(self):
        return [f"DELETE FROM order_item WHERE id = {self.item()}"]

    def delete_order(self):
        key = self.order()
        return [f"DELETE FROM order_item WHERE order_id = {key}", f"DELETE FROM orders WHERE id = {key}"]

    def delete_order_only(self):
        return [f"DELETE FROM orders WHERE id = {self.order()}"]

    def reinsert_order(self):
        key = self.order()
        return [f"DELETE FROM orders WHERE id = {key}", f"INSERT INTO orders VALUES {self.order_row(key)}"]

    def change_customer(self):
        return [f"UPDATE customer SET city = {text(self.words())} WHERE id = {self.customer()}"]

    def change_product(self):
        return [f"UPDATE product SET name = {text(self.words())}, price = {self.money()},"
                f" weight = {self.rng.random() * 10 ** self.rng.randrange(-3, 5)} WHERE id = {self.product()}"]

    def delete_customer(self):
        return [f"DELETE FROM customer WHERE id = {self.customer()}"]

    def reinsert_customer(self):
        key = self.customer()
        return [f"REPLACE INTO customer VALUES ({key}, {text(self.words())}, 'c{key}@example.net', "
                f"{text(self.words())}, 'XX', '2020-02-29', 1)"]

    def change_order_key(self):
        key = self.next_order
        self.next_order += 1
        old = self.order()
        change = [f"UPDATE orders SET id = {key} WHERE id = {old}"]
        if self.rng.random() < 0.7:
            change.append(f"UPDATE order_item SET order_id = {key} WHERE order_id = {old}")
        return change

    def swap_order_keys(self):
        a, b, aside = self.order(), self.order(), 999_999_999
        if a == b:
            return []
        return [f"DELETE FROM orders WHERE id = {aside}", f"UPDATE orders SET id = {aside} WHERE id = {a}",
                f"UPDATE orders SET id = {a} WHERE id = {b}", f"UPDATE orders SET id = {b} WHERE id = {aside}"]

    def change_item_key(self):
        key = self.next_item
        self.next_item += 1
        return [f"UPDATE order_item SET id = {key} WHERE id = {self.item()}"]

    def many_orders(self):
        start = self.order()
        return [f"UPDATE orders SET total = total + 0.01 WHERE id BETWEEN {start} AND {start + 40}"]

    def many_items(self):
        start = self.item()
        return [self.rng.choice([
            f"UPDATE order_item SET price = price + 1 WHERE id BETWEEN {start} AND {start + 60}",
            f"DELETE FROM order_item WHERE id BETWEEN {start} AND {start + 5}"])]

    def replace_item(self):
        return [f"REPLACE INTO order_item VALUES {self.item_row(self.item(), self.order())}"]

    def upsert_order(self):
        return [f"INSERT INTO orders VALUES {self.order_row(self.order())} ON DUPLICATE KEY UPDATE total = total + 1"]

    def come_and_go(self):
        key = self.next_order
        self.next_order += 1
        return ([f"INSERT INTO orders VALUES {self.order_row(key)}"] + self.new_items(key, 2)
                + [f"DELETE FROM order_item WHERE order_id = {key}", f"DELETE FROM orders WHERE id = {key}"])

    def hot_row(self):
        key = self.order()
        return [f"UPDATE orders SET total = total + 1 WHERE id = {key}"] * self.rng.randrange(5, 40)

    def rolled_back_part(self):
        return ["SAVEPOINT s"] + self.change_order() + self.delete_item() + ["ROLLBACK TO SAVEPOINT s"]

    def nothing(self):
        key = self.order()
        return [f"UPDATE orders SET total = total WHERE id = {key}"]
