/** The weights and gradients of a model, as GPU programs bind them. */
import type { View } from './gpu.ts';
import type { Linear, LinearGradient } from './linear.ts';
import { type LayerAdapters, type LinearName, LINEARS } from './lora.ts';
import { type Matrix, matrixOf } from './matrix.ts';
import { groupSize, type LayerTensors, type ModelTensors, type TensorGroup } from './parameters.ts';

interface LayerVectors {
  inputNorm: View;
  qkvBias?: View;
  qNorm?: View;
  kNorm?: View;
  postNorm: View;
}
export type LayerViews = LayerVectors & Record<LinearName, Linear>;
export interface WeightViews {
  embed: Matrix;
  layers: LayerViews[];
  norm: View;
  /** The same as `embed` if the embeddings are tied. */
  head: Matrix;
}

export type LayerGradients = Partial<LayerVectors> & Record<LinearName, LinearGradient>;
/** The gradients of a model. A tensor without a gradient is not trained. */
export interface GradientViews {
  embed?: View;
  layers: LayerGradients[];
  norm?: View;
  head?: View;
}

const mapGroups = <T>(tensors: LayerTensors, get: (group: TensorGroup, name: keyof LayerTensors) => T) =>
  Object.fromEntries(Object.entries(tensors).map(([name, group]) => [name, get(group, name as keyof LayerTensors)]));
const isLinear = (name: string): name is LinearName => (LINEARS as readonly string[]).includes(name);

/**
 * @param matrix returns the place of a group of matrices
 * @param vector returns the place of a group of vectors
 */
export function weightViews(
  { embed, layers, norm, head }: ModelTensors,
  matrix: (group: TensorGroup) => Matrix,
  vector: (group: TensorGroup) => View,
  adapters?: readonly LayerAdapters[],
): WeightViews {
  const table = matrix(embed);
  return {
    embed: table,
    layers: layers.map(
      (layer, i) =>
        mapGroups(layer, (group, name) =>
          isLinear(name) ? { matrix: matrix(group), lora: adapters?.[i]?.[name] } : vector(group),
        ) as unknown as LayerViews,
    ),
    norm: vector(norm),
    head: head ? matrix(head) : table,
  };
}

/** The weights in a flat buffer that holds all tensors. `view` returns the place of a group in it. */
export const flatWeightViews = (tensors: ModelTensors, view: (group: TensorGroup) => View): WeightViews =>
  weightViews(
    tensors,
    (group) => {
      const { rows, columns } = groupSize(group);
      return matrixOf(view(group), rows, columns);
    },
    view,
  );

/** The gradients of all tensors. */
export function fullGradients({ embed, layers, norm, head }: ModelTensors, view: (group: TensorGroup) => View): GradientViews {
  return {
    embed: view(embed),
    layers: layers.map(
      (layer) => mapGroups(layer, (group, name) => (isLinear(name) ? { matrix: view(group) } : view(group))) as unknown as LayerGradients,
    ),
    norm: view(norm),
    head: view(head ?? embed),
  };
}

/** The gradients when only adapters are trained. */
export const loraGradients = (adapters: readonly LayerAdapters[]): GradientViews => ({
  layers: adapters.map((layer) => Object.fromEntries(LINEARS.map((name) => [name, { lora: layer[name] }])) as unknown as LayerGradients),
});
