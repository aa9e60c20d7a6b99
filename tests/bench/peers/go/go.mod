module decode

go 1.21

require github.com/go-mysql-org/go-mysql v1.16.0
