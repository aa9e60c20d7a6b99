"""Documents of one server's tables that show tables of another one, of another kind."""
from abroad import Abroad
from servers import Failed, wait_until

ORDERS = ("CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, code VARCHAR(20) COLLATE utf8mb4_general_ci,"
          " KEY (customer_id), KEY (code))",
          "CREATE TABLE country (id INT PRIMARY KEY, name VARCHAR(40))",
          "INSERT INTO orders VALUES (1, 1, 'a'), (2, 2, 'B'), (3, 1, 'x'), (4, NULL, NULL)",
          "INSERT INTO country VALUES (1, 'here'), (2, 'there')")
CUSTOMERS = ("CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40), country_id INT, KEY (country_id))",
             "CREATE TABLE tag (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci, word VARCHAR(20),"
             " KEY (code))",
             "CREATE TABLE label (id INT PRIMARY KEY, word VARCHAR(20))",
             "CREATE TABLE customer_label (customer_id INT, label_id INT, PRIMARY KEY (customer_id, label_id),"
             " KEY (label_id))",
             "INSERT INTO customer VALUES (1, 'Ada', 1), (2, 'Bob', 2), (3, 'Cem', NULL)",
             "INSERT INTO tag VALUES (1, 'A', 'first'), (2, 'b', 'second'), (3, 'a', 'third')",
             "INSERT INTO label VALUES (1, 'good'), (2, 'new')",
             "INSERT INTO customer_label VALUES (1, 1), (1, 2), (2, 2)")


def orders(refresh):
    """Over the border and back: orders - customer, tags (abroad) - country (at home)."""
    return {"table": "orders", "relations": [
        {"from": "customer_id", "table": "abroad.customer", "to": "id", "as": "customer", "refresh": refresh,
         "relations": [
             {"from": "country_id", "table": "country", "to": "id", "as": "country", "refresh": refresh},
             {"from": "id", "through": {"table": "abroad.customer_label", "from": "customer_id", "to": "label_id"},
              "table": "abroad.label", "to": "id", "as": "labels", "many": True, "values": "word",
              "refresh": refresh}]},
        {"from": "code", "table": "abroad.tag", "to": "code", "as": "tags", "many": True, "where": "word <> 'third'",
         "refresh": refresh}]}


def two_servers(w):
    w.sql(*ORDERS)
    abroad = Abroad(w)
    abroad.sql(*CUSTOMERS)
    return abroad


def test_documents_show_rows_of_another_server(w):
    abroad = two_servers(w)
    definitions = abroad.definitions(orders("none"))
    daemon = w.follow(definitions)
    abroad.equal(daemon)
    document = w.engine.get(w.index("orders"), 1)
    if document["customer"]["country"]["name"] != "here" or document["tags"][0]["word"] != "first":
        raise Failed(f"not as expected: {document}")
    # What is read again shows the other server as it is now.
    abroad.sql("UPDATE customer SET name = 'Eve' WHERE id = 1", "DELETE FROM tag WHERE id = 2")
    w.sql("UPDATE orders SET code = 'b'", "INSERT INTO orders VALUES (5, 3, 'A')")
    abroad.equal(daemon)


def test_changes_on_both_servers_lead_to_the_documents(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    for change in ("UPDATE customer SET name = 'Eve' WHERE id = 1", "UPDATE customer SET country_id = 1",
                   "UPDATE tag SET code = 'x' WHERE id = 1", "UPDATE label SET word = 'old' WHERE id = 1",
                   "DELETE FROM customer_label WHERE customer_id = 1 AND label_id = 2",
                   "INSERT INTO customer_label VALUES (2, 1)", "DELETE FROM customer WHERE id = 2",
                   "INSERT INTO customer VALUES (2, 'Ben', 2)", "UPDATE customer SET id = 7 WHERE id = 1",
                   "INSERT INTO tag VALUES (9, 'b', 'ninth')", "DELETE FROM tag WHERE id = 2"):
        abroad.sql(change)  # the log of the documents' own server stands still
        abroad.equal(daemon)
    # Over the border and back: a row at home, to which only rows abroad lead.
    w.sql("UPDATE country SET name = 'nowhere' WHERE id = 2")
    abroad.equal(daemon)
    w.sql("UPDATE orders SET customer_id = 7", "DELETE FROM orders WHERE id = 2")
    abroad.equal(daemon)


def test_a_thousand_changes_while_the_documents_log_stands_still_are_all_in_search_at_once(w):
    abroad = two_servers(w)
    daemon = w.follow(abroad.definitions(orders("parent")))
    abroad.equal(daemon)
    connection = abroad.server.connect(w.schema)
    with connection.cursor() as cursor:
        for i in range(1000):
            cursor.execute(f"UPDATE customer SET name = 'n{i}' WHERE id = {1 + i % 2}")
    connection.close()
    # A slow machine, and not a poll now and then: what is last is there soon.
    wait_until("the last name is shown", lambda: (
        w.engine.get(w.index("orders"), 2)["customer"]["name"] == "n999"), 10)
    abroad.equal(daemon)
