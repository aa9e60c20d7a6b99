-- The sample shop: four tables, as a small web shop has them.
CREATE TABLE customer (
    id         INT UNSIGNED NOT NULL PRIMARY KEY,
    name       VARCHAR(80)  NOT NULL,
    email      VARCHAR(120) NOT NULL,
    city       VARCHAR(60)  NOT NULL,
    country    CHAR(2)      NOT NULL,
    since      DATE         NOT NULL,
    newsletter TINYINT      NOT NULL DEFAULT 0,
    UNIQUE KEY (email)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE product (
    id          INT UNSIGNED   NOT NULL PRIMARY KEY,
    sku         CHAR(8)        NOT NULL,
    name        VARCHAR(120)   NOT NULL,
    description TEXT,
    category    VARCHAR(40)    NOT NULL,
    price       DECIMAL(10, 2) NOT NULL,
    weight      FLOAT,
    stock       INT            NOT NULL,
    updated_at  TIMESTAMP      NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    UNIQUE KEY (sku)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE orders (
    id          INT UNSIGNED   NOT NULL PRIMARY KEY AUTO_INCREMENT,
    customer_id INT UNSIGNED   NOT NULL,
    status      ENUM ('new', 'paid', 'packed', 'shipped', 'delivered', 'returned') NOT NULL DEFAULT 'new',
    title       VARCHAR(200)   NOT NULL,
    total       DECIMAL(12, 2) NOT NULL,
    created_at  DATETIME       NOT NULL,
    shipped_at  DATETIME(3),
    note        TEXT,
    KEY (customer_id),
    KEY (created_at),
    CONSTRAINT order_of_customer FOREIGN KEY (customer_id) REFERENCES customer (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE order_item (
    id         INT UNSIGNED   NOT NULL PRIMARY KEY AUTO_INCREMENT,
    order_id   INT UNSIGNED   NOT NULL,
    product_id INT UNSIGNED   NOT NULL,
    qty        SMALLINT       NOT NULL,
    price      DECIMAL(10, 2) NOT NULL,
    gift       BIT(1)         NOT NULL DEFAULT b'0',
    KEY (order_id),
    KEY (product_id),
    CONSTRAINT item_of_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT item_of_product FOREIGN KEY (product_id) REFERENCES product (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
