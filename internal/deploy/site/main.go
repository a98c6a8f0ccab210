// This file implements the command line.

// Command site writes README.md and the pages in docs as HTML. The pages have a search that needs
// no server and no network:
//
//	go run ./internal/deploy/site --out site
//
// Then open site/index.html. The command fails if the target of a link is missing.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	repository := flag.String("repository", ".", "the directory of the clone")
	source := flag.String(
		"source",
		"https://github.com/oxbow-memory/oxbow/blob/main",
		"the address of the source files that pages link to",
	)
	out := flag.String("out", "site", "the directory to write")
	flag.Parse()
	pages, err := writeSite(os.DirFS(*repository), *source, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("wrote %d pages to %s\n", pages, *out)
}
