module github.com/oxbow-memory/oxbow/test/clients

go 1.26.0
