-- What Millrace needs and no more: read its tables, follow the binlog, see where the binlog is.
GRANT SELECT ON shop.* TO millrace@'127.0.0.1';
GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO millrace@'127.0.0.1';
