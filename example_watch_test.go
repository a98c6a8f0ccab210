// An example of watching: a program follows the changes of a memory.

package oxbow_test

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A program is told about each change of the memory.
func ExampleMemory_Watch() {
	ctx := context.Background()
	m := must(oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()}))
	defer m.Close()
	stop, err := m.Watch(func(e oxbow.Event) {
		for _, change := range e.Changes {
			if change.Entry == nil {
				fmt.Println("removed: entry", change.ID)
				continue
			}
			fmt.Printf("changed: %s: %s\n", change.Entry.Name, change.Entry.Content)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	must(m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Tuesdays."}))
	must(m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Thursdays."}))
	if err := m.Forget(ctx, "deploy"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// changed: deploy: We ship on Tuesdays.
	// changed: deploy: We ship on Thursdays.
	// removed: entry 1
}
