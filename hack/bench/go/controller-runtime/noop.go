// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// noop reconciles every Widget of the cache, `rounds` times, by reading it and doing nothing.
func noop(ctx context.Context, given options) error {
	mgr, err := newManager(given)
	if err != nil {
		return err
	}
	kube := mgr.GetClient()
	events := make(chan event.GenericEvent)
	done := make(chan struct{}, 1)
	reconciled := 0
	err = ctrl.NewControllerManagedBy(mgr).
		For(&Widget{}).
		WatchesRawSource(source.Channel(events, &handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
			var widget Widget
			if err := kube.Get(ctx, request.NamespacedName, &widget); err != nil {
				return ctrl.Result{}, err
			}
			reconciled++ // there is one worker
			if reconciled%given.count == 0 {
				done <- struct{}{}
			}
			return ctrl.Result{}, nil
		}))
	if err != nil {
		return err
	}
	push := func(ctx context.Context) error {
		<-done // those of the first list
		var widgets WidgetList
		if err := kube.List(ctx, &widgets); err != nil {
			return err
		}
		mark("started")
		for range given.rounds {
			for index := range widgets.Items {
				events <- event.GenericEvent{Object: &widgets.Items[index]}
			}
			<-done
		}
		mark("done")
		return nil
	}
	if err := mgr.Add(manager.RunnableFunc(push)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
