// This file defines a backup's manifest, which lists the file and the position of each brain.

package jetstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// manifestFile is the name of the manifest. The manifest is replaced after all files in it were written. Then files
// that are not in it are deleted.
const manifestFile = "manifest.json"

// manifestFormat is the format of manifests that this code writes, and the newest format that it
// can read.
const manifestFormat = 1

// backupManifest is the content of the manifest file, which is encoded as JSON.
type backupManifest struct {
	Format       int          `json:"format"`
	ClusterID    string       `json:"cluster"`
	BackupTime   time.Time    `json:"time"`
	Brains       []savedBrain `json:"brains"` // the saved brains (memories of the cluster), sorted by tenant and name
	ManifestHash chainHash    `json:"sum"`    // SHA-256 of this manifest's JSON with the sum set to zeros
}

// savedBrain describes a brain (a memory in the cluster) in a backup.
type savedBrain struct {
	Tenant     string    `json:"tenant"`
	Brain      string    `json:"brain"`
	BrainEpoch uint64    `json:"epoch"`
	Created    time.Time `json:"created"`

	LastMessageSeq uint64 `json:"seq"` // sequence of the brain's last message in the stream
	// number of the brain's last message (envelope), or 0 if the brain has no messages
	LastEnvelopeNumber uint64    `json:"n"`
	EnvelopeChainHash  chainHash `json:"chain"` // hash that covers all messages up to the envelope LastEnvelopeNumber
	EnvelopeTime       int64     `json:"time"`  // time of the envelope LastEnvelopeNumber

	LastChange    uint64    `json:"last"` // number of the brain's last change
	FileChainHash string    `json:"head"` // hash that covers all changes in the file up to LastChange
	FileName      string    `json:"file"` // name of the file ("" if the brain is empty)
	FileSize      int64     `json:"size"`
	FileHash      chainHash `json:"sha256"` // hash of the file
}

func (b *savedBrain) fullName() string { return b.Tenant + "." + b.Brain }

// dirName returns the name of the directory with the tenant's files.
func (b *savedBrain) dirName() string { return "tenant-" + b.Tenant }

// fileName returns the name of the brain's file in the backup, or "" if the brain is empty. The name depends on the
// content, so that no file of the last backup is overwritten. It contains a prefix and a hash. Therefore it is never a
// name that Windows reserves for devices, and no two names are equal on a file system that ignores letter case.
func (b *savedBrain) fileName() string {
	if b.LastEnvelopeNumber == 0 {
		return ""
	}
	return fmt.Sprintf("%s/brain-%s.%x.oxbow", b.dirName(), b.Brain, b.FileHash[:8])
}

// setFileProperties sets the size, the hash and the name of the file according to its content.
func (b *savedBrain) setFileProperties(fileContent []byte) {
	b.FileSize, b.FileHash = int64(len(fileContent)), sha256.Sum256(fileContent)
	b.FileName = b.fileName()
}

// encodeManifest returns the content of the manifest file. It also sets m.ManifestHash to the hash of the manifest. The
// hash is computed while m.ManifestHash is zero.
func (m *backupManifest) encodeManifest() ([]byte, error) {
	m.ManifestHash = chainHash{}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	m.ManifestHash = sha256.Sum256(b)
	b, err = json.MarshalIndent(m, "", " ")
	return append(b, '\n'), err
}

// decodeManifest decodes a manifest. It rejects file names that lead out of the directory. Errors
// match [oxbow.ErrCorrupt] or [oxbow.ErrVersion].
func decodeManifest(data []byte) (*backupManifest, error) {
	m := new(backupManifest)
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(m); err != nil {
		return nil, fmt.Errorf("%w: the manifest cannot be read: %v", oxbow.ErrCorrupt, err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf(
			"%w: the manifest is of format %d; a newer oxbow wrote it: update this one",
			oxbow.ErrVersion,
			m.Format,
		)
	}
	sum := m.ManifestHash
	if _, err := m.encodeManifest(); err != nil || m.ManifestHash != sum {
		return nil, fmt.Errorf("%w: the checksum of the manifest is wrong", oxbow.ErrCorrupt)
	}
	seen := map[string]bool{}
	for i := range m.Brains {
		s := &m.Brains[i]
		if !s.hasValidNamesAndSize() || seen[s.fullName()] {
			return nil, fmt.Errorf(
				"%w: the manifest has the file %.200q for the brain %.200q",
				oxbow.ErrCorrupt,
				s.FileName,
				s.fullName(),
			)
		}
		seen[s.fullName()] = true
	}
	return m, nil
}

// hasValidNamesAndSize reports whether the names and the size of a saved brain are possible.
func (s *savedBrain) hasValidNamesAndSize() bool {
	if !namePattern.MatchString(s.Tenant) || !namePattern.MatchString(s.Brain) {
		return false
	}
	return s.FileName == s.fileName() && s.FileSize >= 0
}
