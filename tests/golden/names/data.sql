SET NAMES utf8mb4;
USE `golden names```;
INSERT INTO `a``b` VALUES (1,'x',10,'q"',1,2,3,4,5), (2,'日',20,'',2,0,0,0,1), (3,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO `where` VALUES (1,1,'x',5), (2,1,'日',6), (3,2,'x',7), (4,2,'-- x',8), (5,2,'/* x',9);
INSERT INTO `日本` VALUES ('x',1), ('日',2), ('ア',3);
