-- The image gives its user everything in its database.  Millrace reads, and follows the log.
REVOKE ALL PRIVILEGES ON shop.* FROM millrace@'%';
GRANT SELECT ON shop.* TO millrace@'%';
GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO millrace@'%';
