// This file contains an example of a program that uses a cluster.

package jetstream_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// This example runs a single server in the process, which requires Dev. Three servers do not require Dev.
func Example() {
	dir, err := os.MkdirTemp("", "oxbow-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	srv, err := server.Start(server.Options{Name: "one", Dir: dir, Secret: "not-so-secret"})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Shutdown()
	nc, system, err := server.Connect(srv.URL(), "not-so-secret")
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	defer system.Close()
	ctx := context.Background()
	c, err := jetstream.Connect(ctx, nc, &jetstream.Options{System: system, Dev: true})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(ctx, "acme", "decisions")
	if err != nil {
		log.Fatal(err)
	}
	m := oxbow.New(s, nil)
	defer m.Close()
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We deploy on Tuesdays."}); err != nil {
		log.Fatal(err)
	}
	hits, err := m.Recall(ctx, oxbow.Query{Text: "when do we deploy?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits[0].Entry.Content)
	// Output: We deploy on Tuesdays.
}
