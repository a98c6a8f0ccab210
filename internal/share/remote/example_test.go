// This file contains an example of a store on a server.

package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A memory on a server can be used like a local memory. Entries are durable on the server, and the client ranks them.
func Example() {
	served, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		log.Fatal(err)
	}
	defer served.Close()
	// A real server checks the token before it calls this function.
	open := func(r *http.Request) (oxbow.Store, context.Context, error) {
		return served, oxbow.WithSource(r.Context(), oxbow.Source{Door: "http", Actor: oxbow.Agent}), nil
	}
	server := httptest.NewServer(remote.Handler(open, nil))
	defer server.Close()

	store, err := remote.Open(server.URL, "TOKEN", nil)
	if err != nil {
		log.Fatal(err)
	}
	m := oxbow.New(store, nil)
	defer m.Close()
	ctx := context.Background()
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Tuesdays."}); err != nil {
		log.Fatal(err)
	}
	hits, err := m.Recall(ctx, oxbow.Query{Text: "when do we ship"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits[0].Entry.Name, hits[0].Entry.Source.Door)
	// Output: deploy http
}
