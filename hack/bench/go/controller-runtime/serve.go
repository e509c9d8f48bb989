// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type widgetSpec struct {
	Size int64 `json:"size,omitempty"`
}

type widgetStatus struct {
	Phase string `json:"phase,omitempty"`
}

// Widget is the kind of the bench.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec   `json:"spec,omitempty"`
	Status            widgetStatus `json:"status,omitempty"`
}

// WidgetList is a list of them.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyObject makes Widget a runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	made := *w
	w.ObjectMeta.DeepCopyInto(&made.ObjectMeta)
	return &made
}

// DeepCopyObject makes WidgetList a runtime.Object.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	made := *l
	l.ListMeta.DeepCopyInto(&made.ListMeta)
	made.Items = make([]Widget, len(l.Items))
	for index := range l.Items {
		made.Items[index] = *l.Items[index].DeepCopyObject().(*Widget)
	}
	return &made
}

func newManager(given options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	version := schema.GroupVersion{Group: "bench.dglop.dev", Version: "v1"}
	scheme.AddKnownTypes(version, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, version)
	return ctrl.NewManager(given.config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		LeaderElection:          given.leads,
		LeaderElectionID:        "bench-controller-runtime",
		LeaderElectionNamespace: "default",
	})
}

// standby marks that the caches are full, whoever leads.
type standby struct{ mgr ctrl.Manager }

func (s standby) NeedLeaderElection() bool { return false }

func (s standby) Start(ctx context.Context) error {
	if _, err := s.mgr.GetCache().GetInformer(ctx, &Widget{}); err != nil {
		return err
	}
	mark("standby")
	return nil
}

// serve brings every Widget to the phase Done.
func serve(ctx context.Context, given options) error {
	mark("begun")
	mgr, err := newManager(given)
	if err != nil {
		return err
	}
	kube := mgr.GetClient()
	err = ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(reconcile.Func(
		func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
			var widget Widget
			if err := kube.Get(ctx, request.NamespacedName, &widget); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if widget.Status.Phase == "Done" {
				return ctrl.Result{}, nil
			}
			before := client.MergeFrom(widget.DeepCopyObject().(*Widget))
			widget.Status.Phase = "Done"
			return ctrl.Result{}, kube.Status().Patch(ctx, &widget, before)
		}))
	if err != nil {
		return err
	}
	if err := mgr.Add(standby{mgr}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
