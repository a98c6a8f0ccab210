// This file implements the command line of the program.

// Command release builds all files of a release without publishing them. It can also try each kind of package that
// this machine is able to install:
//
//	cd internal/deploy/release
//	go run . --out /tmp/dist build
//	go run . --out /tmp/dist try
//	go run . --out /tmp/dist try deb npm
//
// build needs goreleaser and cyclonedx-gomod in PATH:
//
//	go install github.com/goreleaser/goreleaser/v2@v2.15.1
//	go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
//
// The program is a separate module, so that oxbow does not depend on packages that only a release needs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	repository := flag.String("repository", "../../..", "the directory of the clone")
	out := flag.String("out", "", "the directory of the release, which build replaces")
	targets := flag.String("targets", "", "platforms such as linux_amd64,darwin_arm64; all when empty")
	flag.Parse()
	if err := runCommandLine(*repository, *out, *targets, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func runCommandLine(repository, out, targetList string, args []string) error {
	if out == "" || len(args) == 0 {
		return errors.New("usage: go run . --out DIR [--targets LIST] build|try [KIND...]")
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	dist, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	switch {
	case args[0] == "build" && len(args) == 1:
		return buildRelease(root, dist, targetList)
	case args[0] == "try":
		return tryInstallations(root, dist, args[1:])
	}
	return fmt.Errorf("unknown command %q: build or try", args)
}
