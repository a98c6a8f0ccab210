// This file builds the layout of an OCI image. The layout consists of blobs, which are named by their digests, and an
// index that refers to the blobs.

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// ociImage contains the parts from which an OCI image is built.
type ociImage struct {
	name, arch                     string
	programBytes, certificateBytes []byte
}

// containerUserID is the ID of the user who runs the program in a container. This user owns only the data directory.
const containerUserID = 65532

// imageFile is a file in a tar archive. It does not contain a time, so that the same files always produce the same
// image.
type imageFile struct {
	name string // path in the archive, which ends with a slash for a directory
	mode int64
	uid  int
	data []byte
}

// packTar returns a tar archive that contains the files in the given order.
func packTar(files []imageFile) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.uid, Gid: f.uid, Size: int64(len(f.data)),
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// descriptor is the JSON object with which a container image refers to a file in the image, by the digest of its
// content.
type descriptor struct {
	Type        string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	BlobSize    int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// blobFiles contains the files of a container image: the content of each file, by the digest of the content.
type blobFiles map[string][]byte

func blobDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (s blobFiles) addBlob(mediaType string, b []byte) descriptor {
	d := descriptor{Type: "application/vnd.oci.image." + mediaType, Digest: blobDigest(b), BlobSize: len(b)}
	s[d.Digest] = b
	return d
}

func (s blobFiles) addJSON(mediaType string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	return s.addBlob(mediaType, b), err
}

// makeImageLayer returns the only layer of the image. It is a tar archive with the program, the certificates and the
// directories.
func (im *ociImage) makeImageLayer() ([]byte, error) {
	files := []imageFile{{name: "data/", mode: 0o700, uid: containerUserID}}
	if len(im.certificateBytes) > 0 {
		files = append(
			files,
			imageFile{name: "etc/", mode: 0o755},
			imageFile{name: "etc/ssl/", mode: 0o755},
			imageFile{name: "etc/ssl/certs/", mode: 0o755},
			imageFile{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: im.certificateBytes},
		)
	}
	return packTar(append(files, imageFile{name: "oxbow", mode: 0o755, data: im.programBytes}, imageFile{name: "tmp/",
		mode: 0o1777}))
}

// makeLayout returns the whole image: a tar archive in OCI image layout.
func (im *ociImage) makeLayout() ([]byte, error) {
	plain, err := im.makeImageLayer()
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(plain)
	err = errors.Join(err, z.Close())
	if err != nil {
		return nil, err
	}
	all := blobFiles{}
	layer := all.addBlob("layer.v1.tar+gzip", packed.Bytes())
	config, err := all.addJSON("config.v1+json", map[string]any{
		"architecture": im.arch, "os": "linux",
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{blobDigest(plain)}},
		"config": map[string]any{
			"User": "65532:65532", "WorkingDir": "/data", "Entrypoint": []string{"/oxbow"}, "Cmd": []string{"serve"},
			"Env": []string{
				"OXBOW_HOME=/data",
				"HOME=/data",
				"TMPDIR=/tmp",
				"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
			},
			"ExposedPorts": map[string]any{"8333/tcp": struct{}{}}, "Volumes": map[string]any{"/data": struct{}{}},
		},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := all.addJSON(
		"manifest.v1+json",
		map[string]any{
			"schemaVersion": 2,
			"mediaType":     "application/vnd.oci.image.manifest.v1+json",
			"config":        config,
			"layers":        []descriptor{layer},
		},
	)
	if err != nil {
		return nil, err
	}
	manifest.Platform = map[string]string{"architecture": im.arch, "os": "linux"}
	manifest.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": im.name,
		"io.containerd.image.name":          im.name,
	}
	index, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.index.v1+json",
		"manifests":     []descriptor{manifest},
	})
	if err != nil {
		return nil, err
	}
	files := []imageFile{
		{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, data: index},
		{name: "blobs/", mode: 0o755}, {name: "blobs/sha256/", mode: 0o755},
	}
	for d, b := range all {
		files = append(files, imageFile{name: "blobs/" + strings.Replace(d, ":", "/", 1), mode: 0o644, data: b})
	}
	slices.SortFunc(files[4:], func(a, b imageFile) int { return strings.Compare(a.name, b.name) })
	return packTar(files)
}

// checkIsStaticallyLinked returns an error if the program needs a dynamic loader, because the image does not
// contain one.
func checkIsStaticallyLinked(program []byte) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return errors.New("the program is not static")
	}
	return nil
}
