SET NAMES utf8mb4;
CREATE DATABASE `golden names``` CHARACTER SET utf8mb4;
USE `golden names```;
CREATE TABLE `a``b` (`id` INT PRIMARY KEY, `order` VARCHAR(20), `select` INT, `co"l` VARCHAR(20), `sp ace` INT, `it's` INT, `back\slash` INT, `größe` INT, `n` INT, KEY (`order`), KEY (`sp ace`));
CREATE TABLE `where` (`key` INT PRIMARY KEY, `n` INT, `group``by` VARCHAR(20), `a.b` INT, KEY (`n`), KEY (`group``by`));
CREATE TABLE `日本` (`キー` VARCHAR(20) PRIMARY KEY, `値` INT);
