// This file contains an example of an import and an export.

package exchange_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/vfs"
)

func Example() {
	ctx := context.Background()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	in := strings.NewReader(`{"name":"deploy","content":"Ship on Fridays.","tags":["ops"]}
{"nmae":"typo","content":"Lost?"}
`)
	report, err := exchange.Import(ctx, m, exchange.ReadStream(in, "old.jsonl", nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.AddedCount, "added;", report.Problems[0])

	var out strings.Builder
	n, err := exchange.Export(ctx, m, oxbow.Filter{}, &out)
	fmt.Println(n, "exported:", out.String()[:29], err)
	// Output:
	// 1 added; old.jsonl:2: field "nmae" is unknown; did you mean name?
	// 1 exported: {"id":1,"name":"deploy","kind <nil>
}
