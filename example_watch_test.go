// An example of watching: a program follows the changes of a memory.

package oxbow_test

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A program learns of each change of a store that is a Watcher, as the default store
// is. Changes of other processes are seen at the next Refresh.
func ExampleWatcher() {
	ctx := context.Background()
	m := must(oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()}))
	defer m.Close()
	watcher := m.Store().(oxbow.Watcher)
	stop := watcher.Watch(func(e oxbow.Event) {
		for _, change := range e.Changes {
			if change.Entry == nil {
				fmt.Println("removed: entry", change.ID)
				continue
			}
			fmt.Printf("changed: %s: %s\n", change.Entry.Name, change.Entry.Content)
		}
	})
	defer stop()

	must(m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Tuesdays."}))
	must(m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Thursdays."}))
	if err := m.Forget(ctx, "deploy"); err != nil {
		fmt.Println(err)
	}
	if err := watcher.Refresh(ctx); err != nil { // nobody else wrote
		fmt.Println(err)
	}
	// Output:
	// changed: deploy: We ship on Tuesdays.
	// changed: deploy: We ship on Thursdays.
	// removed: entry 1
}
