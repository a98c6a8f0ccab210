// This file tests the container image (OCI image) that is built for oxbow. It tests the image's digests, its files, and
// its size if it contains the real program.

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// most is the largest permitted size of an image in bytes.
const most = 30 << 20

// unpack returns the files in a tar archive.
func unpack(t *testing.T, b []byte) (files []imageFile) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(b))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, imageFile{h.Name, h.Mode, h.Uid, data})
	}
}

// read checks every digest and size in an image. It returns the image's configuration and files.
func read(t *testing.T, layout []byte) (config map[string]any, files []imageFile) {
	t.Helper()
	all := map[string][]byte{}
	for _, f := range unpack(t, layout) {
		all[f.name] = f.data
	}
	seen := 0
	blob := func(d descriptor) []byte {
		b, ok := all["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if !ok || blobDigest(b) != d.Digest || len(b) != d.BlobSize {
			t.Fatalf("the blob %+v has %d bytes and the digest %s", d, len(b), blobDigest(b))
		}
		seen++
		return b
	}
	var version struct {
		Layout string `json:"imageLayoutVersion"`
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Version int `json:"schemaVersion"`
		Config  descriptor
		Layers  []descriptor
	}
	for name, v := range map[string]any{"oci-layout": &version, "index.json": &index} {
		if err := json.Unmarshal(all[name], v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if version.Layout != "1.0.0" || len(index.Manifests) != 1 {
		t.Fatalf("the layout is %+v, the index %+v", version, index)
	}
	if err := json.Unmarshal(blob(index.Manifests[0]), &manifest); err != nil || manifest.Version != 2 ||
		len(manifest.Layers) != 1 {
		t.Fatalf("the manifest is %+v, %v", manifest, err)
	}
	if err := json.Unmarshal(blob(manifest.Config), &config); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	rootfs, _ := config["rootfs"].(map[string]any)
	if ids, _ := rootfs["diff_ids"].([]any); len(ids) != 1 || ids[0] != blobDigest(layer) {
		t.Errorf("the diff ids are %v, want %s", ids, blobDigest(layer))
	}
	if blobs := len(all) - 4; blobs != seen {
		t.Errorf("%d blobs, %d of them in use", blobs, seen)
	}
	return config, unpack(t, layer)
}

func TestLayout(t *testing.T) {
	im := ociImage{
		name:             "oxbow:v1",
		arch:             "amd64",
		programBytes:     []byte("a program"),
		certificateBytes: []byte("certificates"),
	}
	layout, err := im.makeLayout()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := im.makeLayout(); err != nil || !bytes.Equal(again, layout) {
		t.Errorf("the same image again is another: %v", err)
	}
	config, files := read(t, layout)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
		switch f.name {
		case "oxbow":
			if f.mode != 0o755 || string(f.data) != "a program" {
				t.Errorf("the program is %o %q", f.mode, f.data)
			}
		case "tmp/":
			if f.mode != 0o1777 {
				t.Errorf("/tmp has mode %o", f.mode)
			}
		case "data/":
			if f.mode != 0o700 || f.uid != containerUserID {
				t.Errorf("/data has mode %o, of user %d", f.mode, f.uid)
			}
		}
	}
	if want := []string{"data/", "etc/", "etc/ssl/", "etc/ssl/certs/", "etc/ssl/certs/ca-certificates.crt", "oxbow",
		"tmp/"}; !slices.Equal(names, want) {
		t.Errorf("the image holds %q, want %q", names, want)
	}
	runs, _ := config["config"].(map[string]any)
	if config["os"] != "linux" || config["architecture"] != "amd64" || runs["User"] != "65532:65532" {
		t.Errorf("the config is %v", config)
	}
	if err := checkIsStaticallyLinked([]byte("#!/bin/sh")); err == nil {
		t.Error("a script is taken for a static program")
	}
}

// TestProgram checks that the real program is static, runs in an empty directory tree, and makes a small image.
func TestProgram(t *testing.T) {
	testenv.SkipUnlessLong(t) // This test is slow, because the whole program is built again without cgo.
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds the program for linux")
	}
	dir := t.TempDir()
	program, certs := filepath.Join(dir, "oxbow"), filepath.Join(dir, "certs")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, "../../../cmd/oxbow")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// about as large as the certificates of Debian
	if err := os.WriteFile(certs, bytes.Repeat([]byte("x"), 220_000), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "image.tar")
	if err := writeContainerImage(program, certs, "oxbow:test", runtime.GOARCH, out); err != nil {
		t.Fatal(err)
	}
	layout, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	read(t, layout)
	if len(layout) > most {
		t.Errorf("the image has %d bytes, the most is %d", len(layout), most)
	}
	t.Logf("the image has %d bytes", len(layout))
}
