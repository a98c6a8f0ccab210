module github.com/oxbow-memory/oxbow/clienttest

go 1.26.0
