// This file configures the server that computes vectors.

package cli

import (
	"cmp"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/vectors"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// memoryVectors returns the vectors of the home's memory. A server computes these vectors, and the flag --embed or the
// variable $OXBOW_EMBED contains its URL. If neither is set, memoryVectors returns nil. If the home cannot be written
// to, or is not trusted, the vectors are kept only for this run.
func (mem *lazyMemory) memoryVectors() (*verb.Vectors, error) {
	url, model := cmp.Or(mem.embedFlag, mem.env.Getenv("OXBOW_EMBED")), cmp.Or(
		mem.modelFlag,
		mem.env.Getenv("OXBOW_EMBED_MODEL"),
	)
	switch {
	case url == "" && mem.modelFlag != "":
		return nil, usageErrorf("add --embed URL", "--embed-model names a model of no endpoint")
	case url == "":
		return nil, nil
	case model == "":
		return nil, usageErrorf(
			"add --embed-model NAME, or set OXBOW_EMBED_MODEL",
			"the endpoint %s needs the name of a model",
			url,
		)
	}
	c, err := vectors.NewClient(url, model)
	if err == nil {
		err = c.SetBearerToken(mem.env.Getenv("OXBOW_EMBED_KEY"))
	}
	if err != nil {
		return nil, &hintedError{err, "for example --embed http://127.0.0.1:11434"}
	}
	place, err := mem.finder.memoryPlace()
	if err != nil {
		return nil, err
	}
	var fsys vfs.FS
	hasDirectory := place.HasOwnLayout() && isDir(filepath.Dir(place.StorePath))
	if hasDirectory && mem.finder.host().CheckMayWrite(place.StorePath) == nil {
		if foreign, err := mem.finder.isForeignHome(); err != nil {
			return nil, err
		} else if !foreign {
			fsys, err = mem.openDir(filepath.Dir(place.StorePath))
			if err != nil {
				return nil, err
			}
		}
	}
	index := vectors.New(c, fsys, filepath.Base(place.StorePath)+verb.VectorSuffix)
	return &verb.Vectors{Index: index, Model: model, Endpoint: c.Stats().Endpoint,
		MaxEndpointWait: vectors.DefaultQueryTimeout, Saved: fsys != nil}, nil
}
