// The screen `render`.
export default function Screen() {
  return <h1>render</h1>;
}
