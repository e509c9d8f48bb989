// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var indexes = map[string]client.IndexerFunc{
	"app":  func(obj client.Object) []string { return []string{obj.GetLabels()["app"]} },
	"tier": func(obj client.Object) []string { return []string{obj.GetLabels()["tier"]} },
	"team": func(obj client.Object) []string { return []string{obj.GetAnnotations()["team"]} },
}

// follow keeps all pods in a cache and counts their changes.
func follow(ctx context.Context, given options, indexers map[string]client.IndexerFunc) error {
	mark("begun")
	pods, err := cache.New(given.config, cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return err
	}
	for name, indexer := range indexers {
		if err := pods.IndexField(ctx, &corev1.Pod{}, name, indexer); err != nil {
			return err
		}
	}
	informer, err := pods.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	var changes atomic.Int64
	all := int64(given.count)
	handler, err := informer.AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			// After a relist it is called for what is unchanged, too.
			changed := before.(*corev1.Pod).ResourceVersion != after.(*corev1.Pod).ResourceVersion
			if changed && changes.Add(1) == all {
				mark("absorbed")
			}
		},
	})
	if err != nil {
		return err
	}
	go func() {
		if pods.WaitForCacheSync(ctx) && clientcache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			mark("synced")
			time.Sleep(time.Second)
			mark("settled")
		}
	}()
	return pods.Start(ctx)
}
