// This file implements the command line of the program.

// Command image writes an OCI image for docker load and podman load, without a container
// engine. The image contains only a static program, certificates and an empty /tmp:
//
//	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o oxbow ./cmd/oxbow
//	go run ./internal/deploy/image --program oxbow --out oxbow.tar
//	podman load --input oxbow.tar
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	program := flag.String("program", "oxbow", "the static program")
	certs := flag.String(
		"certificates",
		"/etc/ssl/certs/ca-certificates.crt",
		"certificates of authorities, by which a provider of tokens is known; none when empty",
	)
	name := flag.String("name", "oxbow:latest", "name of the image")
	arch := flag.String("arch", runtime.GOARCH, "architecture of the program, as GOARCH names it")
	out := flag.String("out", "oxbow.tar", "the new file")
	flag.Parse()
	if err := writeContainerImage(*program, *certs, *name, *arch, *out); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func writeContainerImage(programPath, certsPath, name, arch, out string) error {
	im := ociImage{name: name, arch: arch}
	var err error
	im.programBytes, err = os.ReadFile(programPath)
	if err != nil {
		return err
	}
	if certsPath != "" {
		im.certificateBytes, err = os.ReadFile(certsPath)
		if err != nil {
			return err
		}
	}
	if err := checkIsStaticallyLinked(im.programBytes); err != nil {
		return fmt.Errorf("%s: %w; build it with CGO_ENABLED=0", programPath, err)
	}
	b, err := im.makeLayout()
	if err != nil {
		return err
	}
	return os.WriteFile(out, b, 0o644)
}
