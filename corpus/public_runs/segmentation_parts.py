"""facebookresearch/segment-anything: the mask decoder is called with points, with boxes and with several prompts."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from segment_anything.modeling import MaskDecoder, PromptEncoder, TwoWayTransformer

torch.manual_seed(0)
prompts = PromptEncoder(embed_dim=16, image_embedding_size=(4, 4), input_image_size=(64, 64), mask_in_chans=4)
decoder = MaskDecoder(
    transformer_dim=16, transformer=TwoWayTransformer(depth=1, embedding_dim=16, mlp_dim=32, num_heads=2),
    num_multimask_outputs=3, iou_head_depth=2, iou_head_hidden_dim=16,
)
encode = torch.compile(prompts, backend="eager")
decode = torch.compile(decoder, backend="eager")
image = torch.randn(1, 16, 4, 4)


@torch.no_grad()
def predict(points=None, boxes=None, many=True):
    sparse, dense = encode(points=points, boxes=boxes, masks=None)
    decode(
        image_embeddings=image, image_pe=prompts.get_dense_pe(), sparse_prompt_embeddings=sparse,
        dense_prompt_embeddings=dense, multimask_output=many,
    )


predict(points=(torch.rand(1, 1, 2) * 64, torch.ones(1, 1, dtype=torch.long)))
predict(points=(torch.rand(1, 3, 2) * 64, torch.ones(1, 3, dtype=torch.long)), many=False)
predict(boxes=torch.tensor([[1.0, 2.0, 30.0, 40.0]]))
